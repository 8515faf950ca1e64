import { networkContains, parseCidr, pushAll } from '#base';
import { checkPortName, checkPortNumber, FieldError, itemErrors, nameIsDnsSubdomain, Path } from '#machinery';
import { invalidErrors } from '../../field-checks.ts';
import { cidrWarnings, validateLegacyCidr } from '../../ip.validation.ts';
import { validateLabelSelector } from '../../meta/v1/label.validation.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../meta/v1/object-meta.validation.ts';
import type { IPBlock, NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort, NetworkPolicySpec } from './network-policy.ts';

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const POLICY_TYPES = ['Ingress', 'Egress'];
const SPEC = Path.of('spec');
const META = { namespaced: true, nameRule: nameIsDnsSubdomain };

/** Values of the stored policy that newer rules would reject. */
interface Rules {
  readonly allowInvalidValues: boolean;
  readonly allowedCidrs: readonly string[];
}

const STRICT: Rules = { allowInvalidValues: false, allowedCidrs: [] };

export function validateNetworkPolicy(policy: NetworkPolicy): FieldError[] {
  return [...validateObjectMeta(policy.metadata, META), ...validateSpec(policy.spec ?? {}, STRICT)];
}

export function validateNetworkPolicyUpdate(policy: NetworkPolicy, old: NetworkPolicy): FieldError[] {
  const allowedCidrs = blocks(old).flatMap(({ block }) => [block.cidr, ...(block.except ?? [])]);
  const allowInvalidValues = validateLabelSelector(old.spec?.podSelector, SPEC).length > 0;
  return [
    ...validateObjectMetaUpdate(policy.metadata, old.metadata),
    ...validateSpec(policy.spec ?? {}, { allowInvalidValues, allowedCidrs }),
  ];
}

function validateSpec(spec: NetworkPolicySpec, rules: Rules): FieldError[] {
  const errors = validateLabelSelector(spec.podSelector, SPEC.child('podSelector'), rules);
  const check = (path: Path, ports: readonly NetworkPolicyPort[] = [], peers: { path: Path; list: readonly NetworkPolicyPeer[] }) => {
    for (const error of itemErrors(ports, (port, i) => validatePort(path.child('ports').index(i), port))) errors.push(error);
    for (const error of itemErrors(peers.list, (peer, i) => validatePeer(peers.path.index(i), peer, rules))) errors.push(error);
  };
  for (const [i, { ports, from = [] }] of (spec.ingress ?? []).entries()) {
    const path = SPEC.child('ingress').index(i);
    check(path, ports, { path: path.child('from'), list: from });
  }
  for (const [i, { ports, to = [] }] of (spec.egress ?? []).entries()) {
    const path = SPEC.child('egress').index(i);
    check(path, ports, { path: path.child('to'), list: to });
  }
  return [...errors, ...validatePolicyTypes(spec.policyTypes ?? [])];
}

function validatePolicyTypes(types: readonly string[]): FieldError[] {
  const path = SPEC.child('policyTypes');
  if (types.length > POLICY_TYPES.length) return [FieldError.invalid(path, types, 'may not specify more than two policyTypes')];
  return itemErrors(types, (type, i) => (POLICY_TYPES.includes(type) ? [] : [FieldError.notSupported(path.index(i), type, POLICY_TYPES)]));
}

function validatePort(path: Path, { protocol, port, endPort }: NetworkPolicyPort): FieldError[] {
  const errors: FieldError[] = [];
  if (protocol !== undefined && !PROTOCOLS.includes(protocol)) {
    errors.push(FieldError.notSupported(path.child('protocol'), protocol, PROTOCOLS));
  }
  if (typeof port === 'number') return [...errors, ...validatePortRange(path, port, endPort)];
  if (endPort !== undefined) {
    const detail = `may not be specified when \`port\` is ${port === undefined ? 'not specified' : 'non-numeric'}`;
    errors.push(FieldError.invalid(path.child('endPort'), endPort, detail));
  }
  return port === undefined ? errors : [...errors, ...invalidErrors(path.child('port'), port, checkPortName(port))];
}

/** Upstream prints the first port if the last is too small. */
function validatePortRange(path: Path, port: number, endPort: number | undefined): FieldError[] {
  const errors = [...invalidErrors(path.child('port'), port, checkPortNumber(port))];
  if (endPort === undefined) return errors;
  if (endPort < port) errors.push(FieldError.invalid(path.child('endPort'), port, 'must be greater than or equal to `port`'));
  return [...errors, ...invalidErrors(path.child('endPort'), endPort, checkPortNumber(endPort))];
}

function validatePeer(path: Path, { podSelector, namespaceSelector, ipBlock }: NetworkPolicyPeer, rules: Rules): FieldError[] {
  const errors = [
    ...validateLabelSelector(podSelector, path.child('podSelector'), rules),
    ...validateLabelSelector(namespaceSelector, path.child('namespaceSelector'), rules),
    ...(ipBlock ? validateIPBlock(path.child('ipBlock'), ipBlock, rules) : []),
  ];
  if (!podSelector && !namespaceSelector && !ipBlock) errors.push(FieldError.required(path, 'must specify a peer'));
  else if (ipBlock && (podSelector || namespaceSelector)) {
    errors.push(FieldError.forbidden(path, 'may not specify both ipBlock and another peer'));
  }
  return errors;
}

function validateIPBlock(path: Path, { cidr, except = [] }: IPBlock, { allowedCidrs }: Rules): FieldError[] {
  if (!cidr) return [FieldError.required(path.child('cidr'))];
  const errors = [...validateLegacyCidr(path.child('cidr'), cidr, allowedCidrs)];
  const network = parseCidr(cidr);
  if (!network) return errors;
  except.forEach((text, i) => {
    const at = path.child('except').index(i);
    pushAll(errors, validateLegacyCidr(at, text, allowedCidrs));
    const part = parseCidr(text);
    if (!part) return;
    const isInside = networkContains(network, { family: part.family, value: part.base }) && network.prefixLength < part.prefixLength;
    if (!isInside) errors.push(FieldError.invalid(at, text, 'must be a strict subset of `cidr`'));
  });
  return errors;
}

/** All IP blocks of a policy with their paths. */
function blocks({ spec }: NetworkPolicy): { path: Path; block: IPBlock }[] {
  const collect = (path: Path, peers: readonly NetworkPolicyPeer[] = []) =>
    peers.flatMap(({ ipBlock }, j) => (ipBlock ? [{ path: path.index(j).child('ipBlock'), block: ipBlock }] : []));
  return [
    ...(spec?.ingress ?? []).flatMap(({ from }, i) => collect(SPEC.child('ingress').index(i).child('from'), from)),
    ...(spec?.egress ?? []).flatMap(({ to }, i) => collect(SPEC.child('egress').index(i).child('to'), to)),
  ];
}

export function networkPolicyWarnings(policy: NetworkPolicy): readonly string[] {
  return blocks(policy).flatMap(({ path, block }) => [
    ...cidrWarnings(path.child('cidr'), block.cidr),
    ...(block.except ?? []).flatMap((cidr, i) => cidrWarnings(path.child('except').index(i), cidr)),
  ]);
}
