import type { ReactNode } from 'react';
import { Code } from './code-block.tsx';
import { CopyButton } from './copy-button.tsx';

/** A command as one would type it. */
export function CommandLine({ command }: { readonly command: string }): ReactNode {
  return (
    <figure className="command" aria-label="Command">
      <span className="command-mark" aria-hidden="true">
        $
      </span>
      <pre>
        <Code code={command} language="bash" />
      </pre>
      <CopyButton text={() => command} label="Copy the command" />
    </figure>
  );
}
