export { type AguiMessage, RunAgentInput, userText } from './agui/agui-events.ts';
export { AguiFold, type AguiRun } from './agui/agui-fold.ts';
export { isHeardOut, type Narration } from './narration.ts';
export { cancelledAnswer, type GivenAnswer, readAnswer } from './requests.ts';
