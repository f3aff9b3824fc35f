import { Component, type ReactNode } from 'react';

type Props = {
  /** In the place of what could not be shown. */
  readonly fallback: (error: unknown) => ReactNode;
  readonly children: ReactNode;
};
type State = { readonly error?: unknown; readonly hasFailed: boolean };

/**
 * What cannot be shown takes nothing else along. Parts of the page are loaded when they are needed first, from a server
 * that may be away then, or of another version.
 */
export class Boundary extends Component<Props, State> {
  static getDerivedStateFromError(error: unknown): State {
    return { error, hasFailed: true };
  }

  override state: State = { hasFailed: false };

  override render(): ReactNode {
    const { fallback, children } = this.props;
    return this.state.hasFailed ? fallback(this.state.error) : children;
  }
}
