import type { Readable, Writable } from 'node:stream';
import { copyStream } from './copy-stream.ts';
import type { CommandOutcome, CommandSession, RemoteCommand } from './remote-command.ts';

/**
 * Connects a client with its command until the command exits or the client disconnects. `giveUp` is called when the client
 * disconnects first. Resolves when the client's connection is closed.
 */
export async function relayCommand(session: CommandSession, command: RemoteCommand, giveUp: () => void): Promise<void> {
  let isFinished = false;
  const left = session.closed.then(() => {
    if (!isFinished) giveUp();
    for (const stream of [command.stdin, command.stdout, command.stderr]) if (!isFinished) stream?.destroy();
  });
  if (command.resize !== undefined) session.onResize(({ width, height }) => command.resize?.(width, height));
  if (session.stdin && command.stdin) void copyInput(session.stdin, command.stdin);
  else session.stdin?.resume();
  const outputs = [copyOutput(command.stdout, session.stdout), copyOutput(command.stderr, session.stderr)];
  const outcome = await outcomeOf(command);
  await Promise.race([Promise.all(outputs), left]);
  isFinished = true;
  command.stdin?.destroy();
  session.finish(outcome);
  await session.closed;
}

async function outcomeOf({ exit }: RemoteCommand): Promise<CommandOutcome> {
  try {
    const { exitCode } = await exit;
    return { type: 'exited', exitCode };
  } catch (error) {
    return { type: 'failed', message: (error as Error).message };
  }
}

/** A command may exit without reading all input; the rest is dropped. Never rejects. */
function copyInput(from: Readable, to: Writable): Promise<void> {
  to.on('error', () => {});
  return copyStream(from, to);
}

async function copyOutput(from: Readable | undefined, to: Writable | undefined): Promise<void> {
  if (from === undefined) {
    to?.end();
    return;
  }
  from.on('error', () => {});
  if (to === undefined) from.resume();
  else await copyStream(from, to);
}
