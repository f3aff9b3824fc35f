export { AcpFold, chosenAnswer, permissionOf } from './acp/acp-fold.ts';
export { type AguiMessage, RunAgentInput, userContent } from './agui/agui-events.ts';
export { type AguiAbout, AguiFold, type AguiRun } from './agui/agui-fold.ts';
export { AguiListener } from './agui/agui-listener.ts';
export { type BetaAbout, BetaFold, BetaListener, betaFrame, betaStatus } from './beta/beta-fold.ts';
export { betaAnswer, ResumeBeta, StartBeta, segmentsContent } from './beta/beta-input.ts';
export { type ChatAnswer, ChatInput, chatAnswers, chatContent, heardTo, isTransient } from './chat/chat-chunks.ts';
export { type ChatAbout, ChatFold } from './chat/chat-fold.ts';
export { ChatListener, type ChatPlace } from './chat/chat-listener.ts';
export { ChatTranscript } from './chat/chat-transcript.ts';
export { isHeardOut, type Narration } from './narration.ts';
export { ProseFold } from './prose.ts';
export { cancelledAnswer, detailsOf, type GivenAnswer, isForPerson, questionOf, readAnswer } from './requests.ts';
export { ModelRequests } from './run/model-requests.ts';
export type { Said } from './said.ts';
export {
  controlFrame,
  dataFrame,
  nextCursor,
  placeHeaders,
  positionOf,
  type StreamPlace,
} from './streams/stream-offsets.ts';
export type { Told } from './told.ts';
