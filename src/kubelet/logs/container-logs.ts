import type { PodContainer } from '../pods/pod-state.ts';

/** One entry of a container's log: a line, or a fragment of a long one. */
export interface LogEntry {
  /** RFC 3339 with nanoseconds. */
  readonly time: string;
  readonly timeMs: number;
  readonly stream: 'stdout' | 'stderr';
  /** With its newline, unless it is a fragment. */
  readonly content: Buffer;
}

export interface LogReadOptions {
  /** Also streams new output until the container exits. */
  readonly follow?: boolean;
  /** Only the last lines. */
  readonly tailLines?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads the output of containers. */
export interface ContainerLogs {
  /** The container's output, oldest first. */
  read(container: PodContainer, options?: LogReadOptions): AsyncIterable<LogEntry>;
}
