import { pushAll } from '#base';
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkPortNumber,
  checkQualifiedName,
  FieldError,
  itemErrors,
  nameIsDnsLabel,
  Path,
} from '#machinery';
import { invalidErrors, requiredValue, supportedValue } from '../../../field-checks.ts';
import { goStruct } from '../../../go-struct.ts';
import { validateEndpointIp, validateLegacyCidr, validateLegacyIp } from '../../../ip.validation.ts';
import { validateLabels } from '../../../meta/v1/label.validation.ts';
import { METADATA, validateObjectMeta, validateObjectMetaUpdate } from '../../../meta/v1/object-meta.validation.ts';
import { validatePortNumberOrName } from '../container/port.validation.ts';
import { type Service, ServicePort, type ServiceSpec, type SessionAffinityConfig } from './service.ts';
import { validateClusterIpFields, validateClusterIpsUpdate, validateIpFamiliesUpdate } from './service-cluster-ip.validation.ts';
import { isExternallyAccessible, isHeadless, needsHealthCheck } from './service-traffic.ts';

export const PORT_PROTOCOLS = ['SCTP', 'TCP', 'UDP'];
const SERVICE_TYPES = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const SESSION_AFFINITIES = ['ClientIP', 'None'];
const TRAFFIC_POLICIES = ['Cluster', 'Local'];
const TRAFFIC_DISTRIBUTIONS = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];
const MAX_AFFINITY_SECONDS = 86_400;
const TOPOLOGY_HINTS = 'service.kubernetes.io/topology-aware-hints';
const TOPOLOGY_MODE = 'service.kubernetes.io/topology-mode';
const SOURCE_RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'";
const SPEC = Path.of('spec');
const PORTS = SPEC.child('ports');
const CLUSTER_IPS = SPEC.child('clusterIPs');

export function validateService(service: Service): FieldError[] {
  return [...validateObjectMeta(service.metadata, { namespaced: true, nameRule: nameIsDnsLabel }), ...validateBody(service)];
}

export function validateServiceUpdate(service: Service, old: Service): FieldError[] {
  return [
    ...validateObjectMetaUpdate(service.metadata, old.metadata),
    ...validateClusterIpsUpdate(service, old),
    ...validateIpFamiliesUpdate(service, old),
    ...validateLoadBalancerClass(service.spec ?? {}, old.spec),
    ...validateHealthCheckPortUpdate(service.spec ?? {}, old.spec ?? {}),
    ...validateBody(service, old),
  ];
}

/** Everything but the metadata. `old` is absent on create. */
function validateBody(service: Service, old?: Service): FieldError[] {
  const spec = service.spec ?? {};
  return [
    ...validateTopologyAnnotations(service),
    ...validateByType(service),
    ...validatePorts(spec),
    ...validateLabels(spec.selector, SPEC.child('selector')),
    ...validateAffinity(spec),
    ...validateClusterIpFields(service, old),
    ...validateExternalIps(spec, old?.spec?.externalIPs ?? []),
    ...requiredValue(SPEC.child('type'), spec.type, SERVICE_TYPES),
    ...validateNodePorts(spec),
    ...validateSourceRanges(service, old),
    ...validateNodePortAllocation(spec),
    ...validateLoadBalancerClass(spec),
    ...validateExternalTraffic(spec),
    ...validateInternalTraffic(spec),
    ...validateTrafficDistribution(spec),
  ];
}

function validateTopologyAnnotations({ metadata }: Service): FieldError[] {
  const hints = metadata.annotations?.[TOPOLOGY_HINTS];
  const mode = metadata.annotations?.[TOPOLOGY_MODE];
  if (hints === undefined || mode === undefined || hints === mode) return [];
  const path = METADATA.child('annotations').key(TOPOLOGY_MODE);
  return [FieldError.invalid(path, mode, `must match annotations[${TOPOLOGY_HINTS}] when both are specified`)];
}

function validateByType(service: Service): FieldError[] {
  const spec = service.spec ?? {};
  const errors: FieldError[] = [];
  const headless = isHeadless(service);
  if (!spec.ports?.length && !headless && spec.type !== 'ExternalName') errors.push(FieldError.required(PORTS));
  if (spec.type === 'ExternalName') pushAll(errors, validateExternalName(spec));
  if (headless && (spec.type === 'LoadBalancer' || spec.type === 'NodePort')) {
    errors.push(FieldError.invalid(CLUSTER_IPS.index(0), 'None', `may not be set to 'None' for ${spec.type} services`));
  }
  return errors;
}

function validateExternalName(spec: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  const unset = 'may not be set for ExternalName services';
  if (spec.clusterIPs?.length) errors.push(FieldError.forbidden(CLUSTER_IPS, unset));
  if (spec.ipFamilies?.length) errors.push(FieldError.forbidden(SPEC.child('ipFamilies'), unset));
  if (spec.ipFamilyPolicy !== undefined) errors.push(FieldError.forbidden(SPEC.child('ipFamilyPolicy'), unset));
  // A trailing dot marks a fully qualified name.
  const name = (spec.externalName ?? '').replace(/\.$/, '');
  const path = SPEC.child('externalName');
  return name === '' ? [...errors, FieldError.required(path)] : [...errors, ...invalidErrors(path, name, checkDns1123Subdomain(name))];
}

function validatePorts({ ports = [] }: ServiceSpec): FieldError[] {
  const names = new Set<string>();
  return itemErrors(ports, (port, i) => validatePort(port, { path: PORTS.index(i), named: ports.length > 1, names }));
}

interface PortContext {
  readonly path: Path;
  readonly named: boolean;
  /** Names of previous ports; this port's name is added. */
  readonly names: Set<string>;
}

function validatePort(port: ServicePort, { path, named, names }: PortContext): FieldError[] {
  const errors: FieldError[] = [];
  if (!port.name) {
    if (named) errors.push(FieldError.required(path.child('name')));
  } else {
    pushAll(errors, invalidErrors(path.child('name'), port.name, checkDns1123Label(port.name)));
    if (names.has(port.name)) errors.push(FieldError.duplicate(path.child('name'), port.name));
    names.add(port.name);
  }
  pushAll(errors, invalidErrors(path.child('port'), port.port ?? 0, checkPortNumber(port.port ?? 0)));
  pushAll(errors, requiredValue(path.child('protocol'), port.protocol, PORT_PROTOCOLS));
  pushAll(errors, validatePortNumberOrName(path.child('targetPort'), port.targetPort ?? 0));
  if (port.appProtocol !== undefined) {
    pushAll(errors, invalidErrors(path.child('appProtocol'), port.appProtocol, checkQualifiedName(port.appProtocol)));
  }
  return errors;
}

function validateAffinity(spec: ServiceSpec): FieldError[] {
  const errors = [...requiredValue(SPEC.child('sessionAffinity'), spec.sessionAffinity, SESSION_AFFINITIES)];
  const path = SPEC.child('sessionAffinityConfig');
  if (spec.sessionAffinity === 'ClientIP') pushAll(errors, validateClientIpConfig(path, spec.sessionAffinityConfig));
  if (spec.sessionAffinity === 'None' && spec.sessionAffinityConfig !== undefined) {
    errors.push(FieldError.forbidden(path, 'must not be set when session affinity is None'));
  }
  return errors;
}

function validateClientIpConfig(path: Path, config: SessionAffinityConfig | undefined): FieldError[] {
  const detail = 'when session affinity type is ClientIP';
  if (!config) return [FieldError.required(path, detail)];
  if (!config.clientIP) return [FieldError.required(path.child('clientIP'), detail)];
  const seconds = config.clientIP.timeoutSeconds;
  const secondsPath = path.child('clientIP', 'timeoutSeconds');
  if (seconds === undefined) return [FieldError.required(secondsPath, detail)];
  if (seconds > 0 && seconds <= MAX_AFFINITY_SECONDS) return [];
  return [FieldError.invalid(secondsPath, seconds, `must be greater than 0 and less than ${MAX_AFFINITY_SECONDS}`)];
}

function validateExternalIps({ externalIPs = [] }: ServiceSpec, allowed: readonly string[]): FieldError[] {
  return itemErrors(externalIPs, (ip, i) => {
    const path = SPEC.child('externalIPs').index(i);
    const errors = validateLegacyIp(path, ip, allowed);
    return errors.length > 0 ? errors : validateEndpointIp(path, ip);
  });
}

function validateNodePorts({ type, ports = [] }: ServiceSpec): FieldError[] {
  const errors: FieldError[] = [];
  if (type === 'ClusterIP') {
    ports.forEach(({ nodePort }, i) => {
      if (nodePort) errors.push(FieldError.forbidden(PORTS.index(i).child('nodePort'), "may not be used when `type` is 'ClusterIP'"));
    });
  }
  pushAll(
    errors,
    duplicatePorts(
      ports,
      ({ nodePort }) => nodePort || undefined,
      (i, { nodePort }) => FieldError.duplicate(PORTS.index(i).child('nodePort'), nodePort),
    ),
  );
  pushAll(
    errors,
    duplicatePorts(
      ports,
      ({ port }) => port ?? 0,
      (i, { port, protocol }) => FieldError.duplicate(PORTS.index(i), goStruct(ServicePort, { protocol, port })),
    ),
  );
  return errors;
}

/** Ports with the same protocol and number as a previous one; unset numbers do not conflict. */
function duplicatePorts(
  ports: readonly ServicePort[],
  numberOf: (port: ServicePort) => number | undefined,
  report: (index: number, port: ServicePort) => FieldError,
): FieldError[] {
  const seen = new Set<string>();
  return itemErrors(ports, (port, i) => {
    const number = numberOf(port);
    if (number === undefined) return [];
    const key = `${port.protocol}/${number}`;
    const isDuplicate = seen.has(key);
    seen.add(key);
    return isDuplicate ? [report(i, port)] : [];
  });
}

/** The path has a capital letter, as upstream. */
function validateSourceRanges({ metadata, spec = {} }: Service, old?: Service): FieldError[] {
  const ranges = spec.loadBalancerSourceRanges ?? [];
  const annotation = metadata.annotations?.[SOURCE_RANGES];
  if (ranges.length > 0) return validateRangesField(spec, ranges, old?.spec?.loadBalancerSourceRanges);
  if (annotation === undefined) return [];
  const path = METADATA.child('annotations').key(SOURCE_RANGES);
  const errors = spec.type === 'LoadBalancer' ? [] : [FieldError.forbidden(path, ONLY_LOAD_BALANCER)];
  if (old?.metadata.annotations?.[SOURCE_RANGES] === annotation || annotation.trim() === '') return errors;
  return [...errors, ...annotation.split(',').flatMap((range) => validateLegacyCidr(path, range.trim()))];
}

function validateRangesField(spec: ServiceSpec, ranges: readonly string[], old: readonly string[] = []): FieldError[] {
  const path = SPEC.child('LoadBalancerSourceRanges');
  const errors = spec.type === 'LoadBalancer' ? [] : [FieldError.forbidden(path, ONLY_LOAD_BALANCER)];
  const allowed = old.map((range) => range.trim());
  return [...errors, ...itemErrors(ranges, (range, i) => validateLegacyCidr(path.index(i), range.trim(), allowed))];
}

function validateNodePortAllocation({ type, allocateLoadBalancerNodePorts }: ServiceSpec): FieldError[] {
  const isSet = allocateLoadBalancerNodePorts !== undefined;
  if (type === 'LoadBalancer') return isSet ? [] : [FieldError.required(Path.of('allocateLoadBalancerNodePorts'))];
  return isSet ? [FieldError.forbidden(SPEC.child('allocateLoadBalancerNodePorts'), ONLY_LOAD_BALANCER)] : [];
}

function validateLoadBalancerClass(spec: ServiceSpec, old?: ServiceSpec): FieldError[] {
  const path = SPEC.child('loadBalancerClass');
  const name = spec.loadBalancerClass;
  if (spec.type !== 'LoadBalancer') return name === undefined ? [] : [FieldError.forbidden(path, ONLY_LOAD_BALANCER)];
  const errors: FieldError[] = [];
  if (old?.type === 'LoadBalancer' && old.loadBalancerClass !== name) {
    errors.push(FieldError.invalid(path, name ?? null, 'may not change once set'));
  }
  return name === undefined ? errors : [...errors, ...invalidErrors(path, name, checkQualifiedName(name))];
}

function validateExternalTraffic(spec: ServiceSpec): FieldError[] {
  const path = SPEC.child('externalTrafficPolicy');
  const policy = spec.externalTrafficPolicy ?? '';
  const errors: FieldError[] = [];
  if (isExternallyAccessible(spec)) pushAll(errors, requiredValue(path, policy, TRAFFIC_POLICIES));
  else if (policy !== '') errors.push(FieldError.invalid(path, policy, 'may only be set for externally-accessible services'));
  return [...errors, ...validateHealthCheckPort(spec)];
}

function validateHealthCheckPort(spec: ServiceSpec): readonly FieldError[] {
  const path = SPEC.child('healthCheckNodePort');
  const port = spec.healthCheckNodePort ?? 0;
  if (needsHealthCheck(spec)) return port === 0 ? [FieldError.required(path)] : invalidErrors(path, port, checkPortNumber(port));
  if (port === 0) return [];
  return [FieldError.invalid(path, port, "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'")];
}

function validateHealthCheckPortUpdate(spec: ServiceSpec, old: ServiceSpec): FieldError[] {
  if (!needsHealthCheck(old) || !needsHealthCheck(spec)) return [];
  if ((spec.healthCheckNodePort ?? 0) === (old.healthCheckNodePort ?? 0)) return [];
  return [FieldError.forbidden(SPEC.child('healthCheckNodePort'), 'field is immutable')];
}

function validateInternalTraffic({ type = '', internalTrafficPolicy }: ServiceSpec): readonly FieldError[] {
  const path = SPEC.child('internalTrafficPolicy');
  if (internalTrafficPolicy !== undefined) return supportedValue(path, internalTrafficPolicy, TRAFFIC_POLICIES);
  return ['NodePort', 'LoadBalancer', 'ClusterIP'].includes(type) ? [FieldError.required(path)] : [];
}

function validateTrafficDistribution({ trafficDistribution }: ServiceSpec): readonly FieldError[] {
  if (trafficDistribution === undefined) return [];
  return supportedValue(SPEC.child('trafficDistribution'), trafficDistribution, TRAFFIC_DISTRIBUTIONS);
}
