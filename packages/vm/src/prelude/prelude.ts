import type { IrModule } from '@concerto/ir';
import { defineAgents } from './agents.ts';
import { defineCollections } from './collections.ts';
import { PreludeBuilder } from './define.ts';
import { defineHashMaps } from './hashmaps.ts';
import { defineModels } from './models.ts';
import { defineOptions } from './options.ts';
import { definePipelines } from './pipelines.ts';

function build(): IrModule {
  const prelude = new PreludeBuilder();
  defineCollections(prelude);
  defineOptions(prelude);
  defineHashMaps(prelude);
  defineModels(prelude);
  defineAgents(prelude);
  definePipelines(prelude);
  return prelude.module;
}

/** The built-ins that are written in instructions. Linked behind the functions of every module. */
export const PRELUDE: IrModule = build();
