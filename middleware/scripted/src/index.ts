export { type DemoAgent, demoAgents } from './demo-agents.ts';
export { builtinScripts, findScript } from './find-script.ts';
export { parseScript, Script, ScriptError, type Step } from './script.ts';
export { serveScript } from './serve-script.ts';
