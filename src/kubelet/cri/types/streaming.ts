import type { Readable, Writable } from 'node:stream';

export interface ExecSyncRequest {
  readonly command: readonly string[];
  /** 0: no limit. */
  readonly timeoutMs: number;
}

export interface ExecSyncResult {
  readonly exitCode: number;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export interface AttachRequest {
  readonly containerId: string;
  readonly tty: boolean;
  readonly stdin: boolean;
  readonly stdout: boolean;
  /** Not together with `tty`. */
  readonly stderr: boolean;
}

export interface ExecRequest extends AttachRequest {
  readonly command: readonly string[];
}

/** A command, or a container's main process, with its streams. */
export interface RemoteCommand {
  /** Present if requested. Ending it closes the process's stdin. */
  readonly stdin?: Writable;
  readonly stdout?: Readable;
  readonly stderr?: Readable;
  /** Present with a terminal. */
  resize?(width: number, height: number): void;
  /** Resolves when the process or the attached streams ended; rejects with a RuntimeError when the outcome is unknown. */
  readonly exit: Promise<{ readonly exitCode: number }>;
}
