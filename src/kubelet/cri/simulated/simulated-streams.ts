import { type Duplex, PassThrough, Readable } from 'node:stream';
import type { Clock } from '#base';
import type { LogEntry } from '../../logs/container-logs.ts';
import { PORTS } from '../../pods/labels.ts';
import { type AttachRequest, type CallOptions, type ExecRequest, type RemoteCommand, RuntimeError } from '../runtime.ts';
import type { SimulatedContainer } from './simulated-container.ts';
import { simulatedPort } from './simulated-port.ts';
import { runSimulated } from './simulated-shell.ts';
import { SimulatedTerminal } from './simulated-terminal.ts';

/** Runs a command: as scripted by the pod's annotations, else in a small shell. */
export function simulatedExec(
  container: SimulatedContainer,
  request: ExecRequest,
  { clock, signal }: CallOptions & { clock: Clock },
): RemoteCommand {
  const { execTimeMs, execExitCode, execOutput } = container.options.script;
  const isScripted = execTimeMs > 0 || execExitCode !== 0 || execOutput !== '';
  return isScripted ? scriptedExec(container, request, { clock, signal }) : shellExec(container, request, { clock, signal });
}

interface ExecContext {
  readonly clock: Clock;
  readonly signal: AbortSignal | undefined;
}

/** Waits, writes the scripted output, exits with the scripted code. Stdin is drained. */
function scriptedExec(container: SimulatedContainer, request: ExecRequest, { clock, signal }: ExecContext): RemoteCommand {
  const { execTimeMs, execExitCode, execOutput } = container.options.script;
  const streams = openStreams(request);
  streams.stdin?.resume();
  const exit = (async () => {
    if (execTimeMs > 0) await clock.sleep(execTimeMs, signal);
    streams.stdout?.end(execOutput);
    streams.stderr?.end();
    return { exitCode: execExitCode };
  })();
  return { ...streams, ...(request.tty && { resize() {} }), exit };
}

function shellExec(container: SimulatedContainer, request: ExecRequest, { clock, signal }: ExecContext): RemoteCommand {
  const { stdin, stdout, stderr } = openStreams(request);
  const { config, podName } = container.options;
  const terminal = request.tty ? new SimulatedTerminal({ stdin, stdout }) : undefined;
  const output = terminal?.output ?? stdout;
  const exit = runSimulated(request.command, {
    ...{ stdin: terminal?.input ?? stdin, stdout: output, stderr, terminal, files: container.files, hostname: podName, clock },
    env: config.envs.map(({ name, value }) => ({ key: name, value })),
    signal: terminal === undefined ? signal : eitherSignal(signal, terminal.interruptSignal()),
  }).then((exitCode) => {
    output?.end();
    stderr?.end();
    stdin?.resume();
    return { exitCode };
  });
  const resize = (width: number, height: number) => {
    if (terminal !== undefined) terminal.size = `${height} ${width}`;
  };
  return { ...(stdin && { stdin }), ...(stdout && { stdout }), ...(stderr && { stderr }), ...(terminal && { resize }), exit };
}

function eitherSignal(first: AbortSignal | undefined, second: AbortSignal): AbortSignal {
  return first === undefined ? second : AbortSignal.any([first, second]);
}

/** Streams the container's output until it exits. Stdin reaches containers with open stdin. */
export function simulatedAttach(container: SimulatedContainer, request: AttachRequest, log: AsyncIterable<LogEntry>): RemoteCommand {
  if (container.process !== undefined) return container.process.attach(request);
  const { stdin, stdout, stderr } = openStreams(request);
  stdin?.resume();
  if (stdout !== undefined) Readable.from(contents(log)).pipe(stdout);
  // Upstream's runtimes do not report the exit code to attached clients.
  const exit = container.ended().then(() => {
    stderr?.end();
    return { exitCode: 0 };
  });
  return { ...(stdin && { stdin }), ...(stdout && { stdout }), ...(stderr && { stderr }), ...(request.tty && { resize() {} }), exit };
}

/** Connects to a declared port of the pod; to any port when none are declared. */
export function simulatedPortForward(containers: Iterable<SimulatedContainer>, port: number): Duplex {
  const running = [...containers].filter(({ state }) => state === 'running');
  const declared = running.flatMap(({ options }) => declaredPorts(options.config.annotations[PORTS]));
  const isOpen = running.length > 0 && (declared.length === 0 || declared.includes(port));
  if (!isOpen) throw new RuntimeError('unavailable', `dial tcp4 127.0.0.1:${port}: connect: connection refused`);
  return simulatedPort(running[0]!.options.podName, port);
}

function declaredPorts(annotation: string | undefined): readonly number[] {
  if (annotation === undefined) return [];
  const ports: unknown = JSON.parse(annotation);
  return Array.isArray(ports) ? ports.map(({ containerPort }: { containerPort?: number }) => containerPort ?? 0) : [];
}

/** As much as a connection delivers in one turn of the event loop, so that bulk data does not stop at each chunk. */
const PIPE_BYTES = 256 * 1024;

function openStreams({ stdin, stdout, stderr }: AttachRequest) {
  const open = () => new PassThrough({ highWaterMark: PIPE_BYTES });
  return { ...(stdin && { stdin: open() }), ...(stdout && { stdout: open() }), ...(stderr && { stderr: open() }) };
}

async function* contents(log: AsyncIterable<LogEntry>): AsyncIterable<Buffer> {
  for await (const { content } of log) yield content;
}
