import type { certificatesV1beta1, core } from '#api';
import { StatusError } from '#machinery';
import type { AdmissionAttributes } from '../../admission.ts';
import { type PluginDeps, pluginForbiddenError, readObject } from '../plugin-deps.ts';

const MIRROR = 'kubernetes.io/config.mirror';

/** Nodes request certificates for pods that run on them, with the pod's service account. */
export async function restrictPodCertificateRequests(node: string, attributes: AdmissionAttributes, deps: PluginDeps): Promise<void> {
  const { operation, subresource, namespace } = attributes;
  const forbidden = (detail: string) => pluginForbiddenError(attributes, detail);
  if (operation !== 'CREATE') throw forbidden(`unexpected operation ${operation}`);
  if (subresource !== '') throw forbidden(`unexpected subresource ${subresource}`);
  const { spec } = attributes.object as certificatesV1beta1.PodCertificateRequest;
  if (spec.nodeName !== node)
    throw forbidden(`PodCertificateRequest.Spec.NodeName="${spec.nodeName}", which is not the requesting node "${node}"`);
  const subject = `PodCertificateRequest for pod "${namespace}/${spec.podName}"`;
  const running = await existing(deps, { kind: 'node', resource: 'nodes', namespace: '', name: spec.nodeName });
  // Differences of uids are no prohibition: the caches of nodes may lag, and a retry may succeed.
  if (running.uid !== spec.nodeUID)
    throw retriable(`${subject} names node UID "${spec.nodeUID}", inconsistent with the running node ("${running.uid}")`);
  const { uid, object } = await existing(deps, { kind: 'pod', resource: 'pods', namespace, name: spec.podName });
  const pod = object as unknown as core.Pod;
  if (uid !== spec.podUID) throw retriable(`${subject} contains pod UID ("${spec.podUID}") which differs from running pod "${uid}"`);
  const name = `pod "${namespace}/${spec.podName}"`;
  if (pod.spec?.nodeName !== node) throw forbidden(`${name} is not running on node "${node}" named in the PodCertificateRequest`);
  if (pod.metadata.annotations?.[MIRROR] !== undefined) throw forbidden(`${name} is a mirror pod`);
  const { serviceAccountName = '' } = pod.spec;
  if (spec.serviceAccountName !== serviceAccountName)
    throw forbidden(
      `${subject} contains serviceAccountName ("${spec.serviceAccountName}") that differs from running pod ("${serviceAccountName}")`,
    );
  const account = await existing(deps, { kind: 'service account', resource: 'serviceaccounts', namespace, name: serviceAccountName });
  if (account.uid !== spec.serviceAccountUID)
    throw retriable(
      `${subject} names service account UID "${spec.serviceAccountUID}", which differs from the running service account ("${account.uid}")`,
    );
}

interface NamedObject {
  readonly kind: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

async function existing(deps: PluginDeps, { kind, resource, namespace, name }: NamedObject) {
  const object = await readObject(deps, { group: '', resource }, { namespace, name });
  if (object !== undefined) return { uid: object.metadata.uid ?? '', object };
  const path = namespace === '' ? name : `${namespace}/${name}`;
  throw retriable(`while retrieving ${kind} "${path}" named in the PodCertificateRequest: ${kind.replace(' ', '')} "${name}" not found`);
}

/** What is no StatusError of upstream's becomes a 500 with the bare message. */
function retriable(message: string): StatusError {
  return new StatusError({ code: 500, reason: '', message });
}
