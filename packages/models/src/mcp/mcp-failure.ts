export type McpFailureKind =
  /** The settings are wrong, or the server cannot be started or reached. */
  | 'connection'
  /** A variable the settings refer to is not set. */
  | 'auth'
  | 'timeout'
  | 'cancelled'
  /** The server refused the call: no such tool, wrong arguments. */
  | 'refused'
  /** The tool itself says that it failed. */
  | 'execution';

/** A call of an MCP server that did not succeed. The text is redacted; there is no cause, which would not be. */
export class McpFailure extends Error {
  override readonly name = 'McpFailure';
  readonly code: McpFailureKind;
  readonly server: string;
  /** The server did not know our session any more, or had gone, and has done nothing: it may be asked again in a new one. */
  readonly isForgotten: boolean;

  constructor(code: McpFailureKind, server: string, message: string, { isForgotten = false } = {}) {
    super(`MCP server "${server}": ${message}`);
    this.code = code;
    this.server = server;
    this.isForgotten = isForgotten;
  }
}
