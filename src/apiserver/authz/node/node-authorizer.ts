import { lookupTable } from '#base';
import type { ResourceStorage } from '../../registry/generic/resource-storage.ts';
import type { UserInfo } from '../../request/user.ts';
import { NODE_USER_PREFIX, NODES_GROUP } from '../../request/user.ts';
import type { ResourceCache } from '../../watch-cache/resource-cache.ts';
import type { AuthorizationAttributes, Authorizer, Decision, ResolvedRules } from '../authorizer.ts';
import { type PolicyRule, ruleAllows } from '../rbac/policy-rule.ts';
import { NodeGraph, type RelatedResource } from './node-graph.ts';

/** The storages that the graph follows; undefined for resources that are not served. */
export type NodeStorages = Readonly<Partial<Record<keyof NodeGraph['followers'], ResourceStorage>>>;

export interface NodeAuthorizerOptions {
  readonly storages: () => NodeStorages;
  /** Permissions that all nodes share: the rules of the role `system:node`. */
  readonly rules: readonly PolicyRule[];
}

const ALLOW: Decision = { verdict: 'allow', reason: '' };
const NO_OPINION: Decision = { verdict: 'no opinion', reason: '' };
const NO_RULES: ResolvedRules = { resourceRules: [], nonResourceRules: [], incomplete: false };

/** The node name of a kubelet's user; undefined for other users. */
export function nodeNameOf({ name, groups }: UserInfo): string | undefined {
  return name.startsWith(NODE_USER_PREFIX) && groups.includes(NODES_GROUP) ? name.slice(NODE_USER_PREFIX.length) : undefined;
}

/** Allows each node to read what its pods refer to and to write its own objects, nothing else. */
export class NodeAuthorizer implements Authorizer {
  readonly #options: NodeAuthorizerOptions;
  readonly #graph = new NodeGraph();
  #followed: readonly ResourceCache[] | undefined;

  constructor(options: NodeAuthorizerOptions) {
    this.#options = options;
  }

  /** Reads the objects of the graph; called on the first request of a node. */
  async start(): Promise<void> {
    this.#followed ??= this.#follow();
    while (!this.#isCurrent) await Promise.all(this.#followed.map((cache) => cache.start()));
  }

  #follow(): readonly ResourceCache[] {
    const storages = this.#options.storages();
    const followers = Object.entries(this.#graph.followers) as [keyof NodeStorages, NodeGraph['followers'][keyof NodeStorages]][];
    return followers.flatMap(([name, follower]) => {
      const cache = storages[name]?.cache;
      // `start` rejects with this error.
      void cache?.follow(follower).catch(() => {});
      return cache ?? [];
    });
  }

  get #isCurrent(): boolean {
    return this.#followed?.every((cache) => cache.isStarted) === true;
  }

  authorize(attributes: AuthorizationAttributes): Decision | Promise<Decision> {
    const node = nodeNameOf(attributes.user);
    if (node === undefined) return NO_OPINION;
    if (node === '') return { verdict: 'no opinion', reason: `unknown node for user "${attributes.user.name}"` };
    const decide = () => this.#decide(node, attributes);
    return this.#isCurrent ? decide() : this.start().then(decide);
  }

  rulesFor(user: UserInfo): ResolvedRules {
    if (nodeNameOf(user) === undefined) return NO_RULES;
    return { ...NO_RULES, incomplete: true, evaluationError: 'node authorizer does not support user rule resolution' };
  }

  #decide(node: string, attributes: AuthorizationAttributes): Decision {
    const resource = `${attributes.group}/${attributes.resource}`;
    const special = attributes.isResource ? SPECIAL[resource] : undefined;
    // Denied unless pod certificates are enabled.
    if (resource === POD_CERTIFICATES && this.#options.storages().podCertificateRequests === undefined) return NO_OPINION;
    if (special !== undefined) return decisionOf(special({ node, attributes, graph: this.#graph }));
    return this.#options.rules.some((rule) => ruleAllows(rule, attributes)) ? ALLOW : NO_OPINION;
  }
}

/** True: allowed. Text: the reason of a denial; empty for none. */
type AccessResult = true | string;

interface NodeRequest {
  readonly node: string;
  readonly attributes: AuthorizationAttributes;
  readonly graph: NodeGraph;
}

function decisionOf(answer: AccessResult): Decision {
  return answer === true ? ALLOW : { verdict: 'no opinion', reason: answer };
}

const POD_CERTIFICATES = 'certificates.k8s.io/podcertificaterequests';

const SPECIAL = lookupTable<(request: NodeRequest) => AccessResult>({
  '/secrets': (request) => readNamespaced(request, 'secrets'),
  '/configmaps': (request) => readNamespaced(request, 'configmaps'),
  '/persistentvolumeclaims': claims,
  '/persistentvolumes': (request) => getOne(request, 'persistentvolumes'),
  'resource.k8s.io/resourceclaims': (request) => getOne(request, 'resourceclaims'),
  'storage.k8s.io/volumeattachments': (request) => getOne(request, 'volumeattachments'),
  '/serviceaccounts': serviceAccounts,
  'coordination.k8s.io/leases': leases,
  'storage.k8s.io/csinodes': csiNodes,
  'resource.k8s.io/resourceslices': resourceSlices,
  '/nodes': nodes,
  '/pods': pods,
  [POD_CERTIFICATES]: podCertificateRequests,
  'certificates.k8s.io/clustertrustbundles': trustBundles,
});

/** Trust bundles are public within the cluster. */
function trustBundles({ attributes }: NodeRequest): AccessResult {
  return ['get', 'list', 'watch'].includes(attributes.verb) || 'can only read resources of this type';
}

function related({ node, attributes, graph }: NodeRequest, resource: RelatedResource): AccessResult {
  if (attributes.name === '') return 'No Object name found';
  return graph.isRelated(node, resource, attributes) || `no relationship found between node '${node}' and this object`;
}

function readNamespaced(request: NodeRequest, resource: RelatedResource): AccessResult {
  const { verb, subresource, namespace } = request.attributes;
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return 'can only read resources of this type';
  if (subresource !== '') return 'cannot read subresource';
  if (namespace === '') return 'can only read namespaced object of this type';
  return related(request, resource);
}

function getOne(request: NodeRequest, resource: RelatedResource): AccessResult {
  const { verb, subresource } = request.attributes;
  if (verb !== 'get') return 'can only get individual resources of this type';
  if (subresource !== '') return 'cannot get subresource';
  return related(request, resource);
}

function claims(request: NodeRequest): AccessResult {
  const { verb, subresource } = request.attributes;
  if (subresource !== 'status') return getOne(request, 'persistentvolumeclaims');
  if (verb !== 'update' && verb !== 'patch') return 'can only get/update/patch this type';
  return related(request, 'persistentvolumeclaims');
}

function serviceAccounts(request: NodeRequest): AccessResult {
  const { verb, subresource, name } = request.attributes;
  if (verb === 'get' && subresource === '') return readNamespaced(request, 'serviceaccounts');
  if (verb !== 'create' || name === '') return 'can only create tokens for individual service accounts';
  if (subresource !== 'token') return 'can only create token subresource of serviceaccount';
  return related(request, 'serviceaccounts');
}

const OWN_VERBS: ReadonlySet<string> = new Set(['get', 'create', 'update', 'patch', 'delete']);

// The name is unknown on create; the NodeRestriction admission plugin checks it.
function leases({ node, attributes: { verb, namespace, name } }: NodeRequest): AccessResult {
  if (!OWN_VERBS.has(verb)) return 'can only get, create, update, patch, or delete a node lease';
  if (namespace !== 'kube-node-lease') return 'can only access leases in the "kube-node-lease" system namespace';
  return verb === 'create' || name === node || 'can only access node lease with the same name as the requesting node';
}

function csiNodes({ node, attributes: { verb, subresource, name } }: NodeRequest): AccessResult {
  if (!OWN_VERBS.has(verb)) return 'can only get, create, update, patch, or delete a CSINode';
  if (subresource !== '') return 'cannot authorize CSINode subresources';
  return verb === 'create' || name === node || 'can only access CSINode with the same name as the requesting node';
}

function resourceSlices(request: NodeRequest): AccessResult {
  const { verb, subresource } = request.attributes;
  if (subresource !== '') return 'cannot authorize ResourceSlice subresources';
  switch (verb) {
    case 'create':
      return true;
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      return related(request, 'resourceslices');
    case 'watch':
    case 'list':
    case 'deletecollection':
      return selectsNode(request) || 'can only list/watch/deletecollection resourceslices with nodeName field selector';
    default:
      return 'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection';
  }
}

function selectsNode({ node, attributes }: NodeRequest): boolean {
  const requirements = attributes.fieldRequirements ?? [];
  return requirements.some(({ field, operator, value }) => field === 'spec.nodeName' && operator === '=' && value === node);
}

function podCertificateRequests(request: NodeRequest): AccessResult {
  const { verb, subresource } = request.attributes;
  if (subresource !== '') return 'nodes may not access the status subresource of PodCertificateRequests';
  if (verb === 'create') return true;
  if (verb === 'get') return related(request, 'podcertificaterequests');
  if (verb !== 'list' && verb !== 'watch') return `nodes may not ${verb} podcertificaterequests`;
  return selectsNode(request) || 'can only list/watch podcertificaterequests with nodeName field selector';
}

function nodes({ node, attributes: { verb, subresource, name } }: NodeRequest): AccessResult {
  const isWrite = verb === 'update' || verb === 'patch';
  if (subresource === 'status') return isWrite || '';
  if (subresource !== '') return '';
  if (isWrite || verb === 'create') return true;
  if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return '';
  if (name === node) return true;
  return name === ''
    ? `node '${node}' cannot read all nodes, only its own Node object`
    : `node '${node}' cannot read '${name}', only its own Node object`;
}

function pods(request: NodeRequest): AccessResult {
  const { verb, subresource, name } = request.attributes;
  if (subresource === 'status') return verb === 'update' || verb === 'patch' || '';
  if (subresource === 'eviction') return verb === 'create' || '';
  if (subresource !== '') return '';
  if (verb === 'create' || verb === 'delete') return true;
  if (verb === 'get') return getOne(request, 'pods');
  if (verb !== 'list' && verb !== 'watch') return '';
  if (selectsNode(request)) return true;
  return name === '' ? 'can only list/watch pods with spec.nodeName field selector' : related(request, 'pods');
}
