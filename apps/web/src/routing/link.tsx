import type { AnchorHTMLAttributes, MouseEvent, ReactNode } from 'react';
import { navigate } from './use-location.ts';

type Props = AnchorHTMLAttributes<HTMLAnchorElement> & { readonly href: string; readonly children: ReactNode };

/** A link inside the page. New tabs, new windows and downloads are left to the browser. */
export function Link({ href, children, ...rest }: Props): ReactNode {
  const follow = (event: MouseEvent): void => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    navigate(href);
  };
  return (
    <a href={href} onClick={follow} {...rest}>
      {children}
    </a>
  );
}
