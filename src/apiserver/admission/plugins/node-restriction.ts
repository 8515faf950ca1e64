import { type authentication, certificates, type core, type resource } from '#api';
import { lookupTable } from '#base';
import { deepEqual, type JsonValue, StatusError } from '#machinery';
import type { Authorizer } from '../../authz/authorizer.ts';
import { nodeNameOf } from '../../authz/node/node-authorizer.ts';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.ts';
import type { CertificateSigningRequest } from './certificate-request.ts';
import { apiReference } from './node-restriction/mirror-pod-references.ts';
import { forbiddenLabels } from './node-restriction/node-labels.ts';
import { restrictPodCertificateRequests } from './node-restriction/pod-certificate-requests.ts';
import { podNeedsAudience } from './node-restriction/token-audiences.ts';
import { type PluginDeps, pluginForbiddenError, readObject } from './plugin-deps.ts';

export interface NodeRestrictionDeps extends PluginDeps {
  readonly authorizer: Authorizer;
}

/** A request by a node. */
interface NodeRequest {
  readonly node: string;
  readonly attributes: AdmissionAttributes;
  readonly deps: NodeRestrictionDeps;
}
type Restriction = (request: NodeRequest) => Promise<void> | void;

const MIRROR = 'kubernetes.io/config.mirror';
const PODS = { group: '', resource: 'pods' };
const LEASES = 'kube-node-lease';
const NODE_SIGNERS = ['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'];

/** Restricts a kubelet to its own Node, its own pods, and fields that grant it nothing further. */
export function nodeRestriction(deps: NodeRestrictionDeps): AdmissionPlugin {
  return {
    name: 'NodeRestriction',
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    admit: (attributes) => {
      const node = nodeNameOf(attributes.user);
      if (node === undefined) return undefined;
      if (node === '') throw pluginForbiddenError(attributes, `could not determine node from user "${attributes.user.name}"`);
      const { group, resource: name } = attributes.resource;
      return RESTRICTIONS[`${group}/${name}`]?.({ node, attributes, deps });
    },
  };
}

const RESTRICTIONS = lookupTable<Restriction>({
  '/pods': restrictPods,
  '/nodes': restrictNodes,
  '/persistentvolumeclaims': restrictClaims,
  '/serviceaccounts': restrictTokens,
  'coordination.k8s.io/leases': restrictLeases,
  'storage.k8s.io/csinodes': ({ node, attributes }) => {
    if (nameOf(attributes) !== node)
      throw pluginForbiddenError(attributes, 'can only access CSINode with the same name as the requesting node');
  },
  'resource.k8s.io/resourceslices': restrictSlices,
  'certificates.k8s.io/certificatesigningrequests': restrictSigningRequests,
  'certificates.k8s.io/podcertificaterequests': ({ node, attributes, deps }) => restrictPodCertificateRequests(node, attributes, deps),
});

function nameOf({ name, object }: AdmissionAttributes): string {
  return name || ((object as KubeObject | undefined)?.metadata.name ?? '');
}

async function restrictPods(request: NodeRequest): Promise<void> {
  const { attributes } = request;
  switch (attributes.subresource) {
    case '':
      return restrictPod(request);
    case 'status':
      return restrictPodStatus(request);
    case 'eviction':
      return restrictEviction(request);
    default: {
      const detail = `unexpected pod subresource "${attributes.subresource}", only 'status' and 'eviction' are allowed`;
      throw pluginForbiddenError(attributes, detail);
    }
  }
}

async function restrictPod(request: NodeRequest): Promise<void> {
  const { node, attributes } = request;
  if (attributes.operation === 'CREATE') return restrictMirrorPod(request);
  if (attributes.operation === 'DELETE') {
    if ((attributes.oldObject as core.Pod).spec?.nodeName === node) return;
    throw pluginForbiddenError(attributes, `node "${node}" can only delete pods with spec.nodeName set to itself`);
  }
  throw pluginForbiddenError(
    attributes,
    `unexpected operation "${attributes.operation}", node "${node}" can only create and delete mirror pods`,
  );
}

/** A kubelet may create mirror pods, bound to its own node only. */
async function restrictMirrorPod({ node, attributes, deps }: NodeRequest): Promise<void> {
  const pod = attributes.object as core.Pod;
  const forbidden = (detail: string) => pluginForbiddenError(attributes, detail);
  if (pod.metadata.annotations?.[MIRROR] === undefined) {
    throw forbidden(`pod does not have "${MIRROR}" annotation, node "${node}" can only create mirror pods`);
  }
  const may = `node "${node}" can only create pods with`;
  if (pod.spec?.nodeName !== node) throw forbidden(`${may} spec.nodeName set to itself`);
  const owners = pod.metadata.ownerReferences ?? [];
  if (owners.length > 1) throw forbidden(`${may} a single owner reference set to itself`);
  const [owner] = owners;
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node)
    throw forbidden(`${may} an owner reference set to itself`);
  if (!owner.controller) throw forbidden(`${may} a controller owner reference set to itself`);
  if (owner.blockOwnerDeletion) throw forbidden(`node "${node}" must not set blockOwnerDeletion on an owner reference`);
  const uid = (await demand(deps, { group: '', resource: 'nodes' }, { namespace: '', name: node })).metadata.uid;
  if (owner.uid !== uid) throw forbidden(`node ${node} UID mismatch: expected ${owner.uid} got ${uid}`);
  const reference = apiReference(pod);
  if (reference !== undefined) throw forbidden(`node "${node}" can not create pods that reference ${reference}`);
}

async function demand(deps: PluginDeps, place: { group: string; resource: string }, key: { namespace: string; name: string }) {
  const object = await readObject(deps, place, key);
  if (object === undefined) throw StatusError.notFound(place, key.name);
  return object;
}

function isSame(a: unknown, b: unknown): boolean {
  return deepEqual((a ?? null) as JsonValue, (b ?? null) as JsonValue);
}

function restrictPodStatus({ node, attributes }: NodeRequest): void {
  const { operation } = attributes;
  if (operation !== 'UPDATE') throw pluginForbiddenError(attributes, `unexpected operation "${operation}"`);
  const old = attributes.oldObject as core.Pod;
  const pod = attributes.object as core.Pod;
  const forbidden = (detail: string) => pluginForbiddenError(attributes, `node "${node}" ${detail}`);
  if (old.spec?.nodeName !== node) throw forbidden('can only update pod status for pods with spec.nodeName set to itself');
  if (!isSame(old.metadata.labels ?? {}, pod.metadata.labels ?? {})) throw forbidden('cannot update labels through pod status');
  if (!isSame(old.status?.resourceClaimStatuses ?? [], pod.status?.resourceClaimStatuses ?? [])) {
    throw forbidden('cannot update resource claim statues');
  }
  if (!isSame(old.status?.extendedResourceClaimStatus, pod.status?.extendedResourceClaimStatus)) {
    throw forbidden('cannot update extended resource claim status');
  }
}

async function restrictEviction({ node, attributes, deps }: NodeRequest): Promise<void> {
  const { operation, namespace } = attributes;
  if (operation !== 'CREATE') throw pluginForbiddenError(attributes, `unexpected operation ${operation}`);
  const name = nameOf(attributes);
  if (name === '') throw pluginForbiddenError(attributes, 'could not determine pod from request data');
  const pod = (await demand(deps, PODS, { namespace, name })) as unknown as core.Pod;
  if (pod.spec?.nodeName !== node)
    throw pluginForbiddenError(attributes, `node ${node} can only evict pods with spec.nodeName set to itself`);
}

function restrictNodes({ node, attributes }: NodeRequest): void {
  const { operation } = attributes;
  const name = nameOf(attributes);
  const forbidden = (detail: string) => pluginForbiddenError(attributes, detail);
  if (name !== node) throw forbidden(`node "${node}" is not allowed to modify node "${name}"`);
  const now = attributes.object as core.Node;
  if (operation === 'CREATE') {
    if (now.spec?.configSource) throw forbidden(`node "${node}" is not allowed to create pods with a non-nil configSource`);
    const labels = forbiddenLabels(now.metadata.labels);
    if (labels.length > 0) throw forbidden(`node "${node}" is not allowed to set the following labels: ${labels.join(', ')}`);
  }
  if (operation === 'UPDATE') restrictNodeUpdate(now, attributes.oldObject as core.Node, forbidden);
}

function restrictNodeUpdate(now: core.Node, old: core.Node, forbidden: (why: string) => StatusError): void {
  const node = old.metadata.name;
  if (now.spec?.configSource && !isSame(now.spec.configSource, old.spec?.configSource)) {
    throw forbidden(`node "${node}" is not allowed to update configSource to a new non-nil configSource`);
  }
  if (!isSame(now.spec?.taints ?? [], old.spec?.taints ?? [])) throw forbidden(`node "${node}" is not allowed to modify taints`);
  if (!isSame(now.metadata.ownerReferences ?? [], old.metadata.ownerReferences ?? [])) {
    throw forbidden(`node "${node}" is not allowed to modify ownerReferences`);
  }
  const labels = forbiddenLabels(now.metadata.labels, old.metadata.labels);
  if (labels.length > 0) throw forbidden(`is not allowed to modify labels: ${labels.join(', ')}`);
}

/** The status fields that a kubelet may set on a claim after it expanded the volume. */
const CLAIM_STATUS = ['capacity', 'conditions', 'allocatedResourceStatuses', 'allocatedResources'];

function restrictClaims({ node, attributes }: NodeRequest): void {
  const { operation, subresource } = attributes;
  if (subresource !== 'status') throw pluginForbiddenError(attributes, 'may only update PVC status');
  if (operation !== 'UPDATE') throw pluginForbiddenError(attributes, `unexpected operation "${operation}"`);
  if (isSame(fixedPart(attributes.object as KubeObject), fixedPart(attributes.oldObject as KubeObject))) return;
  throw pluginForbiddenError(attributes, `node "${node}" is not allowed to update fields other than status.quantity and status.conditions`);
}

function fixedPart({ metadata, status, ...rest }: KubeObject): object {
  const { resourceVersion: _, managedFields: __, ...comparable } = metadata;
  const fixed = Object.entries((status ?? {}) as object).filter(([name]) => !CLAIM_STATUS.includes(name));
  return { ...rest, metadata: comparable, status: Object.fromEntries(fixed) };
}

/** Nodes get tokens for the pods that run on them. */
async function restrictTokens({ node, attributes, deps }: NodeRequest): Promise<void> {
  const { operation, subresource, namespace, object } = attributes;
  if (operation !== 'CREATE' || subresource !== 'token') return;
  const { boundObjectRef: ref, audiences } = (object as authentication.TokenRequest).spec ?? {};
  const forbidden = (detail: string) => pluginForbiddenError(attributes, detail);
  if (ref?.apiVersion !== 'v1' || ref.kind !== 'Pod' || !ref.name) throw forbidden('node requested token not bound to a pod');
  if (!ref.uid) throw forbidden('node requested token with a pod binding without a uid');
  const pod = (await demand(deps, PODS, { namespace, name: ref.name })) as unknown as core.Pod;
  if (ref.uid !== pod.metadata.uid) {
    throw forbidden(
      `the UID in the bound object reference (${ref.uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  if (pod.spec?.nodeName !== node) throw forbidden('node requested token bound to a pod scheduled on a different node');
  await restrictAudience({ node, attributes, deps }, pod, audiences ?? []);
}

async function restrictAudience({ attributes, deps }: NodeRequest, pod: core.Pod, audiences: readonly string[]): Promise<void> {
  if (audiences.length > 1) throw pluginForbiddenError(attributes, 'node may only request 0 or 1 audiences');
  const audience = audiences[0] ?? '';
  if (await podNeedsAudience(pod, audience, deps)) return;
  const { user, namespace, name } = attributes;
  const right = { verb: 'request-serviceaccounts-token-audience', isResource: true, path: '', group: '', version: 'v1' };
  const { verdict } = await deps.authorizer.authorize({ ...right, user, namespace, name, resource: audience, subresource: '' });
  if (verdict === 'allow') return;
  const detail = `audience "${audience}" not found in pod spec volume, ${user.name} is not authorized to request tokens for this audience`;
  throw pluginForbiddenError(attributes, detail);
}

function restrictLeases({ node, attributes }: NodeRequest): void {
  if (attributes.namespace !== LEASES) throw pluginForbiddenError(attributes, `can only access leases in the "${LEASES}" system namespace`);
  if (nameOf(attributes) !== node)
    throw pluginForbiddenError(attributes, 'can only access node lease with the same name as the requesting node');
}

function restrictSlices({ node, attributes }: NodeRequest): void {
  const { operation, object, oldObject } = attributes;
  if (operation === 'UPDATE') return;
  const slice = (operation === 'CREATE' ? object : oldObject) as resource.ResourceSlice;
  if (slice.spec?.nodeName === node) return;
  throw pluginForbiddenError(attributes, `can only ${operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`);
}

function restrictSigningRequests({ node, attributes }: NodeRequest): void {
  if (attributes.operation !== 'CREATE') return;
  const { signerName, request } = (attributes.object as CertificateSigningRequest).spec;
  if (!NODE_SIGNERS.includes(signerName)) return;
  if (commonName(attributes, request) !== `system:node:${node}`) {
    throw pluginForbiddenError(attributes, `can only create a node CSR with CN=system:node:${node}`);
  }
}

function commonName(attributes: AdmissionAttributes, request: string): string {
  try {
    return certificates.readSigningRequest(request).subject.commonName;
  } catch (error) {
    throw pluginForbiddenError(attributes, `unable to parse csr: ${error instanceof Error ? error.message : String(error)}`);
  }
}
