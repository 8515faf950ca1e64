import type { core } from '#api';
import { realClock } from '#base';
import { acceptCommand, acceptPortForward, type CommandStreamOptions, isPort, relayCommand, type Upgrade, UpgradeError } from '#client';
import type { ContainerRuntime, RemoteCommand } from '../cri/runtime.ts';
import { type PodContainer, readPodState } from '../pods/pod-state.ts';
import { type KubeletCall, KubeletError, type KubeletResponse, textResponse } from './kubelet-call.ts';

export interface PodStreamDeps {
  readonly runtime: ContainerRuntime;
  pods(): readonly core.Pod[];
}

/** The path of a stream: `NAMESPACE/POD[/UID]/CONTAINER`, without the container for port-forward. */
interface StreamTarget {
  readonly pod: core.Pod;
  readonly container: string;
}

/** Runs a command in a container over an upgraded connection. */
export async function execResponse(names: readonly string[], call: KubeletCall, deps: PodStreamDeps): Promise<KubeletResponse> {
  const { id } = await runningContainer(names, deps);
  const command = call.query.getAll('command');
  return commandResponse(call, (options, signal) => deps.runtime.exec({ containerId: id, command, ...options }, { signal }));
}

/** Attaches to the main process of a container. */
export async function attachResponse(names: readonly string[], call: KubeletCall, deps: PodStreamDeps): Promise<KubeletResponse> {
  const { pod, container } = commandTarget(names, deps);
  const running = await findRunning(pod, container, deps);
  // Upstream's message differs from the one for exec.
  if (running === undefined)
    throw new KubeletError(500, `container ${container} not found in pod ${pod.metadata.name}_${pod.metadata.namespace}`);
  const { id } = running;
  const hasTerminal = terminalOf(pod, container);
  return commandResponse(call, (options, signal) =>
    deps.runtime.attach({ containerId: id, ...options, stderr: options.stderr && !hasTerminal }, { signal }),
  );
}

/** A container with a tty has no stderr: containerd would block a client that requests it after the container's exit. */
function terminalOf({ spec }: core.Pod, container: string): boolean {
  const all = [...(spec?.containers ?? []), ...(spec?.initContainers ?? []), ...(spec?.ephemeralContainers ?? [])];
  return all.find(({ name }) => name === container)?.tty ?? false;
}

/** Runs a command and responds with its output. */
export async function runResponse(names: readonly string[], call: KubeletCall, deps: PodStreamDeps): Promise<KubeletResponse> {
  const { id } = await runningContainer(names, deps);
  const command = (call.query.get('cmd') ?? '').split(' ');
  const { stdout, stderr } = await deps.runtime.execSync(id, { command, timeoutMs: 0 }, call.signal && { signal: call.signal });
  return textResponse(200, Buffer.concat([stdout, stderr]).toString());
}

export async function portForwardResponse(names: readonly string[], call: KubeletCall, deps: PodStreamDeps): Promise<KubeletResponse> {
  const pod = findPod(names, names.length > 2 ? names[2] : undefined, deps);
  const { sandbox } = await readPodState(deps, pod.metadata.uid ?? '');
  if (!sandbox?.isReady) throw new KubeletError(500, `pod not found ("${pod.metadata.name}_${pod.metadata.namespace}")`);
  const texts = call.query.getAll('port').flatMap((value) => value.split(','));
  const invalid = texts.find((text) => !isPort(text));
  if (invalid !== undefined) throw new KubeletError(400, `port must be 1 to 65535: got "${invalid}"`);
  const dial = (port: number) => deps.runtime.portForward(sandbox.id, port);
  return upgraded(() => acceptPortForward(headerOf(call), { clock: realClock, dial, ports: texts.map(Number) }));
}

type OpenCommand = (options: CommandStreamOptions, signal: AbortSignal) => Promise<RemoteCommand>;

function commandResponse(call: KubeletCall, open: OpenCommand): KubeletResponse {
  const options = commandOptions(call.query);
  return upgraded(() =>
    acceptCommand(headerOf(call), {
      ...options,
      // Real time: peers are outside of the cluster's (possibly virtual) time.
      clock: realClock,
      run: async (session) => {
        const left = new AbortController();
        let command: RemoteCommand;
        try {
          command = await open(options, left.signal);
        } catch (error) {
          session.finish({ type: 'failed', message: (error as Error).message });
          return session.closed;
        }
        return relayCommand(session, command, () => left.abort());
      },
    }),
  );
}

function upgraded(accept: () => Upgrade): KubeletResponse {
  try {
    return accept();
  } catch (error) {
    if (!(error instanceof UpgradeError)) throw error;
    const answer = textResponse(error.code, error.message);
    return { ...answer, headers: { ...answer.headers, ...error.headers } };
  }
}

function headerOf({ headers = {} }: KubeletCall): (name: string) => string | undefined {
  return (name) => (Object.hasOwn(headers, name) ? headers[name] : undefined);
}

function commandOptions(query: URLSearchParams): CommandStreamOptions {
  const flag = (name: string) => query.get(name) === '1';
  const tty = flag('tty');
  const options = { stdin: flag('input'), stdout: flag('output'), stderr: flag('error') && !tty, tty };
  if (!options.stdin && !options.stdout && !options.stderr)
    throw new KubeletError(400, 'you must specify at least 1 of stdin, stdout, stderr');
  return options;
}

async function runningContainer(names: readonly string[], deps: PodStreamDeps): Promise<PodContainer> {
  const { pod, container } = commandTarget(names, deps);
  const running = await findRunning(pod, container, deps);
  if (running === undefined) throw new KubeletError(500, `container not found ("${container}")`);
  return running;
}

async function findRunning({ metadata }: core.Pod, container: string, deps: PodStreamDeps): Promise<PodContainer | undefined> {
  const { containers } = await readPodState(deps, metadata.uid ?? '');
  return containers.find(({ name, state }) => name === container && state === 'running');
}

function commandTarget(names: readonly string[], deps: PodStreamDeps): StreamTarget {
  if (names.length !== 3 && names.length !== 4) throw new KubeletError(404, '404 page not found');
  return { pod: findPod(names, names.length === 4 ? names[2] : undefined, deps), container: names.at(-1)! };
}

function findPod([namespace, name]: readonly string[], uid: string | undefined, deps: PodStreamDeps): core.Pod {
  const match = deps.pods().find(({ metadata }) => metadata.name === name && metadata.namespace === namespace);
  if (match === undefined || (uid !== undefined && match.metadata.uid !== uid)) throw new KubeletError(404, 'pod does not exist');
  return match;
}
