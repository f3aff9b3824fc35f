import { createRequire } from 'node:module';
import { extname, join } from 'node:path';
import process from 'node:process';
import { builtinScripts, findScript } from './find-script.ts';

export type DemoAgent = {
  readonly name: string;
  readonly description: string;
  readonly command: string;
  readonly args: readonly string[];
};

/** The agents that are there before anyone has configured one: they need no key and no network. */
export function demoAgents(): DemoAgent[] {
  return builtinScripts().map((name) => ({
    name,
    description: findScript(name).description,
    command: process.execPath,
    args: [...programArguments(), name],
  }));
}

/** What Node needs to run our program: built, or from source in tests and while developing. */
function programArguments(): string[] {
  const extension = extname(import.meta.filename);
  const program = join(import.meta.dirname, `scripted-main${extension}`);
  if (extension === '.js') return [program];
  return ['--conditions=@concerto/source', '--import', createRequire(import.meta.url).resolve('tsx'), program];
}
