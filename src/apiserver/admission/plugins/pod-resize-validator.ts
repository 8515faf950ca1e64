import { type core, quota } from '#api';
import { Quantity, StatusError } from '#machinery';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import { isAboutPods, type PluginDeps, pluginForbiddenError, readObject } from './plugin-deps.ts';

/** A running pod cannot be resized beyond its node's allocatable resources. */
export function podResizeValidator(deps: PluginDeps): AdmissionPlugin {
  return {
    name: 'PodResizeValidator',
    operations: ['UPDATE'],
    resources: ['pods'],
    validate: async (attributes) => {
      if (!isAboutPods(attributes, 'resize') || attributes.subresource === '') return;
      const pod = attributes.object as core.Pod;
      const name = pod.spec?.nodeName ?? '';
      // The generation grows with every change of the spec.
      if (name === '' || pod.metadata.generation === (attributes.oldObject as core.Pod).metadata.generation) return;
      const node = await readObject(deps, { group: '', resource: 'nodes' }, { namespace: '', name });
      if (node === undefined) throw pluginForbiddenError(attributes, `node "${name}" not found`);
      checkNode(attributes, pod, node as unknown as core.Node);
    },
  };
}

function checkNode(attributes: AdmissionAttributes, pod: core.Pod, { metadata, status }: core.Node): void {
  const os = metadata.labels?.['kubernetes.io/os'] ?? 'linux';
  if (os !== 'linux') {
    const detail = `pod resize is only supported on linux nodes, node "${metadata.name}" is "${os}"`;
    throw withCause(pluginForbiddenError(attributes, detail), 'UnsupportedPlatform');
  }
  const missing = shortages(quota.podRequests(specOnly(pod)), quota.amountsOf(status?.allocatable));
  if (missing.length === 0) return;
  const detail = `node didn't have enough allocatable resources: ${missing.join('; ')}`;
  throw withCause(pluginForbiddenError(attributes, detail), 'NodeCapacity');
}

/** The pod without status: only requested resources count, not allocated ones. */
function specOnly({ metadata, spec }: core.Pod): core.Pod {
  return { metadata, spec } as core.Pod;
}

function shortages(requests: quota.Amounts, allocatable: quota.Amounts): readonly string[] {
  const reasons: string[] = [];
  for (const name of ['cpu', 'memory']) {
    const request = requests.get(name) ?? Quantity.zero;
    const most = allocatable.get(name) ?? Quantity.zero;
    const printable = (amount: Quantity) => (name === 'cpu' ? amount.milliValue() : amount.value());
    if (request.compare(most) > 0) reasons.push(`${name}, requested: ${printable(request)}, allocatable: ${printable(most)}`);
  }
  return reasons;
}

function withCause({ code, reason, message, details }: StatusError, cause: string): StatusError {
  return new StatusError({ code, reason, message, details: { ...details, causes: [{ reason: cause }] } });
}
