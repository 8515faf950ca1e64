import type { core } from '#api';
import type { Device, Mount, StringMap } from '../../cri/runtime.ts';
import type { PodMemory } from '../memory-decrease.ts';
import type { PodEvents } from '../pod-events.ts';

/** A pod on this node, as hooks see it. */
export interface PodContext {
  readonly pod: core.Pod;
  readonly uid: string;
  /** The kubelet's directory of this pod: `ROOT/pods/UID`. */
  readonly podDir: string;
  readonly events: PodEvents;
  /** Aborts when the pod must stop or the kubelet stops. */
  readonly signal: AbortSignal;
}

/** A container that is about to be created. */
export interface ContainerContext extends PodContext {
  readonly container: core.Container;
  readonly podIps: readonly string[];
  readonly attempt: number;
  /** The container's variables, for expansions such as subPathExpr. */
  readonly envs: readonly { readonly name: string; readonly value: string }[];
}

/** A container in the runtime. */
export interface RunningContext extends PodContext {
  readonly container: core.Container;
  readonly containerId: string;
}

/** Additions of a hook to a container's configuration. */
export interface ContainerAdditions {
  readonly mounts?: readonly Mount[];
  readonly envs?: readonly { readonly name: string; readonly value: string }[];
  readonly devices?: readonly Device[];
  readonly cdiDevices?: readonly string[];
  readonly annotations?: StringMap;
  readonly cpusetCpus?: string;
  readonly cpusetMems?: string;
}

/**
 * Takes part in the lifecycle of every pod of a node. Hooks run in list order, and in reverse order during termination. Each may be
 * called again after a failure or a kubelet restart, and must be idempotent.
 */
export interface PodHook {
  readonly name: string;
  /** Called with each observed state of the pod, including the first: after a kubelet restart its containers may already run. */
  observe?(pod: core.Pod): void;
  /**
   * Before the sandbox is created, and again before containers are started in it: must be cheap when nothing has to be done. A rejection
   * keeps the pod from starting and is retried with backoff; the hook records the event itself. With a PodRejectedError the pod fails.
   */
  prepare?(context: PodContext): Promise<void>;
  /** Before each container is created. A StartFailure becomes the container's waiting reason. */
  preStart?(context: ContainerContext): Promise<ContainerAdditions | undefined>;
  /** After the container has started, before its postStart handler. */
  postStart?(context: RunningContext): Promise<void>;
  /** Before a resize. */
  memory?(context: PodContext): Promise<PodMemory | undefined>;
  /** The pod's resources were changed in place: what it gets more of, before its containers are updated. */
  grow?(context: PodContext): Promise<void>;
  /** All of its new resources, after its containers were updated. */
  resize?(context: PodContext): Promise<void>;
  /** Before the container is stopped. */
  preStop?(context: RunningContext): Promise<void>;
  /** All containers have exited and the sandbox is stopped; the pod object may remain. Its deletion waits until this resolves. */
  postStop?(context: PodContext): Promise<void>;
  /** The pod object is gone: everything of it must be removed. */
  cleanUp?(context: PodContext): Promise<void>;
  /** Removes remains of pods other than these, from before a restart. Called at start and periodically. */
  cleanUpOrphans?(liveUids: ReadonlySet<string>): Promise<void>;
}
