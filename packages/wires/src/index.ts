export { AcpFold, chosenAnswer, permissionOf } from './acp/acp-fold.ts';
export { type AguiMessage, RunAgentInput, userContent } from './agui/agui-events.ts';
export { AguiFold, type AguiRun } from './agui/agui-fold.ts';
export { BetaFold, betaStatus } from './beta/beta-fold.ts';
export { betaAnswer, ResumeBeta, StartBeta, segmentsContent } from './beta/beta-input.ts';
export { type ChatAnswer, ChatInput, chatAnswers, chatContent, heardTo, isTransient } from './chat/chat-chunks.ts';
export { answerId, ChatFold } from './chat/chat-fold.ts';
export { ChatTranscript } from './chat/chat-transcript.ts';
export { isHeardOut, type Narration } from './narration.ts';
export { ProseFold } from './prose.ts';
export { cancelledAnswer, type GivenAnswer, questionOf, readAnswer } from './requests.ts';
export { ModelRequests } from './run/model-requests.ts';
export {
  controlFrame,
  dataFrame,
  nextCursor,
  placeHeaders,
  positionOf,
  type StreamPlace,
} from './streams/stream-offsets.ts';
export type { Told } from './told.ts';
