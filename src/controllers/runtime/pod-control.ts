import { core, type meta } from '#api';
import type { Client, Draft, EventRecorder, Identified } from '#client';
import { isStatusReason, nameIsDnsSubdomain, StatusError } from '#machinery';

export interface PodControlDeps {
  readonly client: Client;
  readonly events: EventRecorder;
}

export interface CreatePodOptions {
  readonly namespace: string;
  readonly template: core.PodTemplateSpec;
  /** The object of the events. */
  readonly parent: Identified;
  readonly ownerRef: meta.OwnerReference;
  /** Instead of a generated name. */
  readonly name?: string;
  readonly generateName?: string;
}

/** Creates and deletes pods on behalf of an owner, with the events that upstream's controllers record on it. */
export class PodControl {
  constructor(private readonly deps: PodControlDeps) {}

  async create(options: CreatePodOptions): Promise<core.Pod> {
    const { client, events } = this.deps;
    const draft = podFromTemplate(options);
    if (Object.keys(draft.metadata?.labels ?? {}).length === 0) throw new TypeError('unable to create pods, no labels');
    try {
      const pod = await client.of(core.Pod).create(draft);
      events.normal(options.parent, 'SuccessfulCreate', `Created pod: ${pod.metadata.name}`);
      return pod;
    } catch (error) {
      const isTerminating = error instanceof StatusError && error.hasCause('NamespaceTerminating');
      if (!isTerminating) events.warning(options.parent, 'FailedCreate', `Error creating: ${(error as Error).message}`);
      throw error;
    }
  }

  /** Rejects with NotFound when the pod is already deleted; no event is recorded then. */
  async delete(pod: Pick<core.Pod, 'metadata'>, parent: Identified): Promise<void> {
    const { client, events } = this.deps;
    const { name, namespace } = pod.metadata;
    try {
      await client.of(core.Pod).delete({ name, namespace });
    } catch (error) {
      if (!isStatusReason(error, 'NotFound')) events.warning(parent, 'FailedDelete', `Error deleting: ${(error as Error).message}`);
      throw error;
    }
    events.normal(parent, 'SuccessfulDelete', `Deleted pod: ${name}`);
  }
}

export function podFromTemplate({ namespace, template, parent, ownerRef, name, generateName }: CreatePodOptions): Draft<core.Pod> {
  const { labels, annotations, finalizers } = template.metadata ?? {};
  // StatefulSet pods have a name and generateName.
  const naming = { ...(name && { name }), generateName: generateName ?? podNamePrefix(parent.metadata.name) };
  const metadata = {
    namespace,
    ...naming,
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(finalizers && { finalizers }),
    ownerReferences: [ownerRef],
  };
  return { metadata, ...(template.spec && { spec: template.spec }) };
}

/** Ends with a dash if the result is a valid pod name. */
export function podNamePrefix(parentName: string): string {
  const prefix = `${parentName}-`;
  return nameIsDnsSubdomain(prefix, true).length === 0 ? prefix : parentName;
}
