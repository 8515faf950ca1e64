import type { CommandOutcome } from './remote-command.ts';

const NON_ZERO = 'NonZeroExitCode';
const EXIT_CODE = 'ExitCode';

/** The final Status of a command, since protocol version 4. */
export function encodeOutcome(outcome: CommandOutcome): string {
  if (outcome.type === 'failed') return JSON.stringify(failedStatus(outcome.message));
  if (outcome.exitCode === 0) return '{"metadata":{},"status":"Success"}';
  const { exitCode, message = `exit status ${exitCode}` } = outcome;
  return JSON.stringify({
    metadata: {},
    status: 'Failure',
    message: `command terminated with non-zero exit code: ${message}`,
    reason: NON_ZERO,
    details: { causes: [{ reason: EXIT_CODE, message: String(exitCode) }] },
  });
}

function failedStatus(text: string): object {
  const message = `Internal error occurred: ${text}`;
  return { metadata: {}, status: 'Failure', message, reason: 'InternalError', details: { causes: [{ message: text }] }, code: 500 };
}

/** Before version 4: text for failures, empty for success. */
export function outcomeText(outcome: CommandOutcome): string {
  if (outcome.type === 'failed') return outcome.message;
  return outcome.exitCode === 0
    ? ''
    : `command terminated with non-zero exit code: ${outcome.message ?? `exit status ${outcome.exitCode}`}`;
}

interface EncodedStatus {
  readonly status?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly details?: { readonly causes?: readonly { readonly reason?: unknown; readonly message?: unknown }[] };
}

/** Decodes the error stream. `isJson`: version 4 and later. */
export function decodeOutcome(text: string, isJson: boolean): CommandOutcome {
  if (!isJson) return text === '' ? { type: 'exited', exitCode: 0 } : { type: 'failed', message: text };
  const status = parseStatus(text);
  if (status === undefined) return { type: 'failed', message: text === '' ? 'the peer did not say how the command ended' : text };
  if (status.status === 'Success') return { type: 'exited', exitCode: 0 };
  const message = typeof status.message === 'string' ? status.message : text;
  const code = exitCodeIn(status);
  if (status.reason !== NON_ZERO || code === undefined) return { type: 'failed', message };
  return { type: 'exited', exitCode: code, message: message.replace(/^command terminated with non-zero exit code: /, '') };
}

function parseStatus(text: string): EncodedStatus | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function exitCodeIn({ details }: EncodedStatus): number | undefined {
  const causes = Array.isArray(details?.causes) ? details.causes : [];
  const text = causes.find((cause) => cause?.reason === EXIT_CODE)?.message;
  return typeof text === 'string' && /^\d{1,3}$/.test(text) ? Number(text) : undefined;
}
