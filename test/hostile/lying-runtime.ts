import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { GrpcError, GrpcServer, grpcStatus, type MethodEntry, type Random } from '#base';
import { imageService, runtimeService } from '../../src/kubelet/cri/grpc/methods.ts';

/** A CRI runtime that keeps its containers in memory and sends wrong responses with the probability `lieRate`. */
export interface LyingRuntime extends AsyncDisposable {
  readonly endpoint: string;
  /** From 0, never, to 1. */
  lieRate: number;
  /** The faults that it injects. Default: any. */
  only: readonly Lie[] | undefined;
  /** The number of calls so far. */
  readonly calls: number;
  readonly lieCounts: ReadonlyMap<Lie, number>;
}

export const LIES = ['garbage', 'nothing', 'flood', 'stranger', 'contradiction', 'future', 'error', 'silence', 'hang-up'] as const;
export type Lie = (typeof LIES)[number];

interface Sandbox {
  readonly id: string;
  readonly metadata: object;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
  state: 'ready' | 'notReady';
}

interface Container {
  readonly id: string;
  readonly sandboxId: string;
  readonly metadata: object;
  readonly image: object;
  readonly imageRef: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
  state: 'created' | 'running' | 'exited' | 'unknown';
  startedAtMs?: number;
  finishedAtMs?: number;
  exitCode: number;
}

// biome-ignore lint/suspicious/noExplicitAny: the messages of all methods
type Message = any;
type Answer = (request: Message) => Message;

/** The part of CRI that a kubelet needs to run pods. */
class TrueRuntime {
  readonly #sandboxes = new Map<string, Sandbox>();
  readonly #containers = new Map<string, Container>();
  #count = 0;

  readonly answers: Readonly<Record<string, Answer>> = {
    Version: () => ({ version: '0.1.0', runtimeName: 'liar', runtimeVersion: '1.0.0', runtimeApiVersion: 'v1' }),
    Status: () => ({ status: { conditions: ['RuntimeReady', 'NetworkReady'].map((type) => ({ type, status: true })) } }),
    UpdateRuntimeConfig: () => ({}),
    RunPodSandbox: ({ config }) => {
      const { metadata, labels, annotations } = config;
      const sandbox: Sandbox = { id: this.#id(), metadata, labels, annotations, createdAtMs: 1e12, state: 'ready' };
      this.#sandboxes.set(sandbox.id, sandbox);
      return { sandboxId: sandbox.id };
    },
    StopPodSandbox: ({ sandboxId }) => {
      for (const container of this.#containers.values()) if (container.sandboxId === sandboxId) this.#exit(container);
      const sandbox = this.#sandboxes.get(sandboxId);
      if (sandbox !== undefined) sandbox.state = 'notReady';
      return {};
    },
    RemovePodSandbox: ({ sandboxId }) => {
      for (const { id, sandboxId: of } of this.#containers.values()) if (of === sandboxId) this.#containers.delete(id);
      this.#sandboxes.delete(sandboxId);
      return {};
    },
    PodSandboxStatus: ({ sandboxId }) => ({ status: { ...present(this.#sandboxes, sandboxId), network: { ip: '192.0.2.9' } } }),
    ListPodSandbox: ({ filter }) => ({ items: [...this.#sandboxes.values()].filter((item) => matches(item, filter)) }),
    CreateContainer: ({ sandboxId, config }) => {
      const { metadata, image, labels, annotations } = config;
      const own = { id: this.#id(), sandboxId, metadata, image, imageRef: 'sha256:1', labels, annotations };
      const container: Container = { ...own, createdAtMs: 1e12, state: 'created', exitCode: 0 };
      this.#containers.set(container.id, container);
      return { containerId: container.id };
    },
    StartContainer: ({ containerId }) => {
      Object.assign(present(this.#containers, containerId), { state: 'running', startedAtMs: 1e12 });
      return {};
    },
    StopContainer: ({ containerId }) => {
      this.#exit(present(this.#containers, containerId));
      return {};
    },
    RemoveContainer: ({ containerId }) => {
      this.#containers.delete(containerId);
      return {};
    },
    ListContainers: ({ filter }) => ({ containers: [...this.#containers.values()].filter((item) => matches(item, filter)) }),
    ContainerStatus: ({ containerId }) => ({ status: present(this.#containers, containerId) }),
    ListImages: () => ({ images: [IMAGE] }),
    ImageStatus: () => ({ image: IMAGE }),
    PullImage: () => ({ imageRef: IMAGE.id }),
    ImageFsInfo: () => ({ imageFilesystems: [], containerFilesystems: [] }),
  };

  #id(): string {
    return (++this.#count).toString(16).padStart(64, '0');
  }

  #exit(container: Container): void {
    if (container.state !== 'exited') Object.assign(container, { state: 'exited', finishedAtMs: 1e12 + 1, exitCode: 137 });
  }
}

const IMAGE = { id: 'sha256:1', repoTags: ['busybox:latest'], repoDigests: [], sizeBytes: 1 };

function present<T>(all: ReadonlyMap<string, T>, id: string): T {
  const item = all.get(id);
  if (item === undefined) throw new GrpcError(grpcStatus.notFound, `${id} not found`);
  return item;
}

interface Filter {
  readonly id?: string;
  readonly sandboxId?: string;
  readonly labelSelector?: Readonly<Record<string, string>>;
  readonly state?: { readonly state: string };
}

function matches(item: Sandbox | Container, filter: Filter | undefined): boolean {
  const { id, sandboxId, labelSelector = {}, state } = filter ?? {};
  if ((id && item.id !== id) || (state && item.state !== state.state)) return false;
  if (sandboxId && 'sandboxId' in item && item.sandboxId !== sandboxId) return false;
  return Object.entries(labelSelector).every(([key, value]) => item.labels[key] === value);
}

const FLOOD = 20_000;

interface Situation {
  readonly truth: Message;
  readonly random: Random;
  encode(answer: Message): Uint8Array;
  hangUp(): void;
}

/** The encoded response that replaces `truth`. Undefined: no response at all. */
function lie(kind: Lie, { truth, encode, random, hangUp }: Situation): Uint8Array | undefined {
  const changed = (change: (item: Message) => Message) => encode(changedItems(truth, change));
  switch (kind) {
    case 'garbage':
      return Buffer.from(Array.from({ length: 1 + random.int(200) }, () => random.int(256)));
    case 'nothing':
      return Buffer.alloc(0);
    case 'flood':
      return encode(Object.fromEntries(Object.entries(truth as object).map(([key, value]) => [key, flooded(value)])));
    case 'stranger':
      return changed((item) => ({ ...item, id: 'f'.repeat(64), sandboxId: '__proto__', labels: { constructor: 'x', __proto__: 'y' } }));
    case 'contradiction':
      return changed((item) => ({
        ...item,
        ...('state' in item && { state: 'sandboxId' in item ? 'unknown' : 'notReady' }),
        exitCode: -1,
        startedAtMs: -1e15,
      }));
    case 'future':
      // A field number and an enum value that this version does not know.
      return Buffer.concat([encode(truth), Buffer.from([0xf8, 0x7f, 0x01])]);
    case 'error':
      throw new GrpcError(1 + random.int(16), '\u0000日本'.repeat(100));
    case 'silence':
      return undefined;
    case 'hang-up':
      hangUp();
      return undefined;
  }
}

function changedItems(truth: Message, change: (item: Message) => Message): Message {
  return Object.fromEntries(
    Object.entries(truth as object).map(([key, value]) => {
      if (Array.isArray(value)) return [key, value.map((item) => (typeof item === 'object' ? change(item) : item))];
      return [key, typeof value === 'object' && value !== null ? change(value) : `${String(value)}x`];
    }),
  );
}

function flooded(value: unknown): unknown {
  if (typeof value === 'string') return value.repeat(1000);
  return Array.isArray(value) && value.length > 0 ? Array.from({ length: FLOOD }, (_, i) => ({ ...value[0], id: `flood-${i}` })) : value;
}

/** A socket server whose connections can be cut. */
async function cuttable(path: string, target: string) {
  const sockets = new Set<Socket>();
  const hold = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const server = createServer((socket) => {
    const onward = connect(target);
    hold(socket);
    hold(onward);
    socket.pipe(onward).pipe(socket);
    socket.on('close', () => onward.destroy());
  });
  server.listen(path);
  await once(server, 'listening');
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      cut();
    });
  return { cut, close };
}

type Codec = Readonly<Record<'request' | 'response', { decode(bytes: Uint8Array): Message; encode(message: Message): Uint8Array }>>;

/** Listens on a socket of this path. */
export async function startLyingRuntime(path: string, random: Random): Promise<LyingRuntime> {
  const runtime = new TrueRuntime();
  const lieCounts = new Map<Lie, number>();
  const state = { endpoint: `unix://${path}`, lieRate: 0, only: undefined as readonly Lie[] | undefined, calls: 0, lieCounts };
  const front = await cuttable(path, `${path}.inner`);
  const methodOf = (method: { readonly name: string }): MethodEntry[] => {
    const answer = runtime.answers[method.name.split('/')[1]!];
    if (answer === undefined) return [];
    const { request, response } = method as unknown as Codec;
    const encode = (message: Message) => response.encode(message);
    const handle: MethodEntry['handle'] = async function* (requests, { signal }) {
      state.calls++;
      let bytes: Uint8Array = Buffer.alloc(0);
      for await (const chunk of requests) bytes = chunk;
      const truth = answer(request.decode(bytes));
      const kind = random.float() < state.lieRate ? random.pick(state.only ?? LIES) : undefined;
      if (kind !== undefined) lieCounts.set(kind, (lieCounts.get(kind) ?? 0) + 1);
      const reply = kind === undefined ? encode(truth) : lie(kind, { truth, random, encode, hangUp: front.cut });
      if (reply !== undefined) yield reply;
      else if (!signal.aborted) await once(signal, 'abort');
    };
    return [{ name: method.name, handle }];
  };
  const methods = Object.values({ ...runtimeService, ...imageService }).flatMap(methodOf);
  const server = await GrpcServer.start({ endpoint: `unix://${path}.inner`, methods });
  return Object.assign(state, {
    async [Symbol.asyncDispose]() {
      await front.close();
      await server[Symbol.asyncDispose]();
    },
  });
}
