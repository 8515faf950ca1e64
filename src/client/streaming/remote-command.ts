import type { Readable, Writable } from 'node:stream';

/** The streams of a command or of a container's main process. */
export interface CommandStreamOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  /** Not together with `tty`. */
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface TerminalSize {
  readonly width: number;
  readonly height: number;
}

/** A remote command with its requested streams. */
export interface RemoteCommand {
  /** Ending it closes the process's stdin. */
  readonly stdin?: Writable;
  readonly stdout?: Readable;
  readonly stderr?: Readable;
  /** Present with a terminal. */
  resize?(width: number, height: number): void;
  /** Resolves when the process or the attached streams ended; rejects when the outcome is unknown. */
  readonly exit: Promise<{ readonly exitCode: number }>;
}

export type CommandOutcome =
  | { readonly type: 'exited'; readonly exitCode: number; readonly message?: string }
  | { readonly type: 'failed'; readonly message: string };

/** The client side of a command: the counterpart of RemoteCommand. */
export interface CommandSession {
  /** Ends when the client closes stdin. */
  readonly stdin?: Readable;
  readonly stdout?: Writable;
  readonly stderr?: Writable;
  /** Called with each terminal size, including the first. */
  onResize(listener: (size: TerminalSize) => void): void;
  /** Sends the outcome and closes the connection, after all output. */
  finish(outcome: CommandOutcome): void;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  destroy(): void;
}
