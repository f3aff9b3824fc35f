import { join } from 'node:path';
import { World } from '../chaos/world.mjs';
import { agent, manifest, program } from './project.mjs';

/** The processes of the chaos, with a project whose program is to be killed. */
export class KilledWorld extends World {
  constructor({ folder, store, model }) {
    super({ folder, store });
    this.model = model;
    this.heard = join(folder, 'heard');
  }

  project() {
    const agentFile = join(this.folder, 'killed-agent.mjs');
    return {
      'Concerto.toml': manifest({ model: this.model, heard: this.heard, agentFile }),
      'long.conc': program,
      'killed-agent.mjs': agent,
      heard: '',
    };
  }

  environment() {
    return { ...super.environment(), MODEL_KEY: 'killed-but-kept' };
  }

  /** Those whose end a program must outlive. */
  victims() {
    return [this.parts.server, ...this.runners()];
  }
}
