import type { ReactNode } from 'react';

/** Drawn on a 16 × 16 grid with the colour of the text around them. */
const paths = {
  up: 'M8 13V3.5M3.5 8 8 3.5 12.5 8',
  down: 'M8 3v9.5M3.5 8 8 12.5 12.5 8',
  bolt: 'M9 1.5 3.5 9H8l-1 5.5L12.5 7H8l1-5.5Z',
  edit: 'm10.5 3 2.5 2.5L6 12.5l-3 .5.5-3 7-7Z',
  close: 'm4 4 8 8M12 4l-8 8',
  check: 'm3 8.5 3.5 3.5L13 4.5',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  play: 'M5 3.2v9.6L12.5 8 5 3.2Z',
  stop: 'M4 4h8v8H4z',
  hand: 'M8 1.8 14.2 8 8 14.2 1.8 8 8 1.8ZM8 5.2v3.3M8 10.6v.2',
  question: 'M5.6 6a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1.1.8-1.1 1.5M8 12.2v.2M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13Z',
  shield: 'M8 1.5 2.8 3.4v4.3c0 3.2 2.2 5.5 5.2 6.8 3-1.3 5.2-3.6 5.2-6.8V3.4L8 1.5Z',
  send: 'M14 2 7 9M14 2 9.5 14 7 9 2 6.5 14 2Z',
  queue: 'M2.5 4h11M2.5 8h11M2.5 12h6',
  lock: 'M4 7.2h8v6H4zM5.5 7V5a2.5 2.5 0 0 1 5 0v2',
  tool: 'M9.8 2.3a3.6 3.6 0 0 0-1.2 4.3l-6 6 .8.8 6-6a3.6 3.6 0 0 0 4.3-4.7L11.5 4.9 9.8 4.5l-.3-1.7Z',
  warning: 'M8 2 1.5 13.5h13L8 2ZM8 6.5v3.2M8 11.6v.2',
  back: 'M13 8H3.5M8 3.5 3.5 8 8 12.5',
  sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6ZM8 1v1.4M8 13.6V15M1 8h1.4M13.6 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1',
  moon: 'M13.5 9.6A6 6 0 0 1 6.4 2.5a6 6 0 1 0 7.1 7.1Z',
  screen: 'M2 3h12v8H2zM6 13.5h4M8 11v2.5',
  retry: 'M13 8a5 5 0 1 1-1.6-3.7M13 2v3h-3',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9ZM10.3 10.3l3.2 3.2',
  file: 'M4 1.5h5.5L13 5v9.5H4zM9.5 1.5V5H13',
  terminal: 'M2 3h12v10H2zM4.5 6l2 2-2 2M8 10.5h3.5',
  globe:
    'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13ZM1.5 8h13M8 1.5c2 2 2.6 4.2 2.6 6.5S10 12.500 8 14.500M8 1.500C6 3.500 5.400 5.700 5.400 8S6 12.500 8 14.500',
  bell: 'M8 2a4 4 0 0 0-4 4v3l-1.500 2.500h11L12 9V6a4 4 0 0 0-4-4ZM6.500 13.500a1.500 1.500 0 0 0 3 0',
  plus: 'M8 3v10M3 8h10',
  branch: 'M4.500 2.500v11M4.500 10.500c0-3 7-1.500 7-5M11.500 2.500a1.500 1.500 0 1 0 0 3 1.500 1.500 0 0 0 0-3Z',
  attach: 'm13 7.5-5.2 5.2a3.2 3.2 0 0 1-4.5-4.5L9 2.5a2.1 2.1 0 0 1 3 3l-5.4 5.4a1.1 1.1 0 0 1-1.5-1.5L10 4.5',
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { readonly name: IconName }): ReactNode {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={paths[name]} />
    </svg>
  );
}
