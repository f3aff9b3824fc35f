import { type SuspendEvent, textOf } from '@concerto/protocol';

/** What is asked, in a line or two of plain text. */
export function questionText(event: SuspendEvent): string {
  switch (event.type) {
    case 'waitForInput':
    case 'waitForChoice':
      return textOf(event.prompt);
    case 'queryConsent':
      return typeof event.scope.description === 'string' ? event.scope.description : event.consentType;
    case 'applyEdits':
      return event.label;
    case 'readGraph':
    case 'inspectNode':
      return 'a request';
  }
}
