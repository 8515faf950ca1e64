import type { PodInfo } from './pod-info.ts';

/** Pods for which preemption frees resources on a node: pods of lower priority must not use them. */
export class Nominations {
  readonly #byNode = new Map<string, Map<string, PodInfo>>();
  readonly #nodeOf = new Map<string, string>();

  get isEmpty(): boolean {
    return this.#nodeOf.size === 0;
  }

  set(info: PodInfo, nodeName: string): void {
    this.delete(info.uid);
    if (nodeName === '') return;
    this.#nodeOf.set(info.uid, nodeName);
    const pods = this.#byNode.get(nodeName);
    if (pods === undefined) this.#byNode.set(nodeName, new Map([[info.uid, info]]));
    else pods.set(info.uid, info);
  }

  delete(uid: string): void {
    if (this.isEmpty) return;
    const nodeName = this.#nodeOf.get(uid);
    if (nodeName === undefined) return;
    this.#nodeOf.delete(uid);
    const pods = this.#byNode.get(nodeName);
    pods?.delete(uid);
    if (pods?.size === 0) this.#byNode.delete(nodeName);
  }

  nodeOf(uid: string): string {
    return this.#nodeOf.get(uid) ?? '';
  }

  /** Whether a pod is nominated to the node. */
  has(nodeName: string): boolean {
    return this.#byNode.has(nodeName);
  }

  on(nodeName: string): Iterable<PodInfo> {
    return this.#byNode.get(nodeName)?.values() ?? [];
  }
}
