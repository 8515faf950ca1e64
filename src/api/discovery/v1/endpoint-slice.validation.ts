import { parseIp, pushAll } from '#base';
import {
  checkDns1123Label,
  checkLabelValue,
  checkQualifiedName,
  FieldError,
  itemErrors,
  nameIsDnsSubdomain,
  Path,
  type Problems,
  validateFullyQualifiedDomainName,
} from '#machinery';
import { PORT_PROTOCOLS } from '../../core/v1/service/service.validation.ts';
import { immutable, invalidErrors, requiredValue, sameValue, supportedValue } from '../../field-checks.ts';
import { ipWarnings, validateEndpointIp, validateIp, validateLegacyIp } from '../../ip.validation.ts';
import { validateLabels } from '../../meta/v1/label.validation.ts';
import { validateObjectMeta } from '../../meta/v1/object-meta.validation.ts';
import type { Endpoint, EndpointHints, EndpointPort, EndpointSlice } from './endpoint-slice.ts';

const ADDRESS_TYPES = ['FQDN', 'IPv4', 'IPv6'];
const MAX_TOPOLOGY_LABELS = 16;
const MAX_ADDRESSES = 100;
const MAX_PORTS = 20_000;
const MAX_ENDPOINTS = 1000;
const MAX_HINTS = 8;
const MANAGED_BY = 'endpointslice.kubernetes.io/managed-by';
const CONTROLLERS: readonly string[] = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io'];
const ENDPOINTS = Path.of('endpoints');
const PORTS = Path.of('ports');
const META = { namespaced: true, nameRule: nameIsDnsSubdomain };

export function validateEndpointSlice(slice: EndpointSlice): FieldError[] {
  return [...validateFrame(slice), ...validateEndpoints(slice)];
}

/** Endpoints that an older server accepted may stay. */
export function validateEndpointSliceUpdate(slice: EndpointSlice, old: EndpointSlice): FieldError[] {
  const endpointErrors = validateEndpoints(slice);
  const isOld = endpointErrors.length > 0 && sameValue(slice.endpoints, old.endpoints);
  return [
    ...validateFrame(slice),
    ...(isOld ? [] : endpointErrors),
    ...immutable(Path.of('addressType'), { value: slice.addressType ?? '', old: old.addressType ?? '' }),
  ];
}

function validateFrame(slice: EndpointSlice): FieldError[] {
  return [
    ...validateObjectMeta(slice.metadata, META),
    ...requiredValue(Path.of('addressType'), slice.addressType, ADDRESS_TYPES),
    ...validatePorts(slice.ports ?? []),
  ];
}

function validatePorts(ports: readonly EndpointPort[]): FieldError[] {
  if (ports.length > MAX_PORTS) return [FieldError.tooMany(PORTS, ports.length, MAX_PORTS)];
  const names = new Set<string>();
  return itemErrors(ports, ({ name = '', protocol, appProtocol }, i) => {
    const path = PORTS.index(i);
    const errors = name ? [...invalidErrors(path.child('name'), name, checkDns1123Label(name))] : [];
    if (names.has(name)) errors.push(FieldError.duplicate(path.child('name'), name));
    names.add(name);
    pushAll(errors, supportedValue(path.child('protocol'), protocol, PORT_PROTOCOLS));
    return appProtocol === undefined
      ? errors
      : [...errors, ...invalidErrors(path.child('appProtocol'), appProtocol, checkQualifiedName(appProtocol))];
  });
}

function validateEndpoints({ endpoints, addressType }: EndpointSlice): FieldError[] {
  const list = endpoints ?? [];
  if (list.length > MAX_ENDPOINTS) return [FieldError.tooMany(ENDPOINTS, list.length, MAX_ENDPOINTS)];
  return itemErrors(list, (endpoint, i) => validateEndpoint(ENDPOINTS.index(i), endpoint, addressType));
}

function validateEndpoint(path: Path, endpoint: Endpoint, addressType: string): FieldError[] {
  const errors = validateAddresses(path.child('addresses'), endpoint.addresses ?? [], addressType);
  const { nodeName, deprecatedTopology, hostname, hints } = endpoint;
  if (nodeName !== undefined) pushAll(errors, invalidErrors(path.child('nodeName'), nodeName, nameIsDnsSubdomain(nodeName, false)));
  if (deprecatedTopology) pushAll(errors, validateTopology(path.child('deprecatedTopology'), deprecatedTopology));
  if (hostname !== undefined) pushAll(errors, invalidErrors(path.child('hostname'), hostname, checkDns1123Label(hostname)));
  return hints ? [...errors, ...validateHints(path.child('hints'), hints)] : errors;
}

function validateAddresses(path: Path, addresses: readonly string[], type: string): FieldError[] {
  if (addresses.length === 0) return [FieldError.required(path, 'must contain at least 1 address')];
  const errors = addresses.length > MAX_ADDRESSES ? [FieldError.tooMany(path, addresses.length, MAX_ADDRESSES)] : [];
  return [...errors, ...itemErrors(addresses, (address, i) => validateAddress(path, i, { address, type }))];
}

function validateAddress(path: Path, index: number, { address, type }: { address: string; type: string }): readonly FieldError[] {
  const at = path.index(index);
  if (type === 'FQDN') return validateFullyQualifiedDomainName(at, address);
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const errors = type === 'IPv4' ? validateLegacyIp(at, address) : validateIp(at, address);
  if (errors.length > 0) return errors;
  const isFamily = parseIp(address)?.family === (type === 'IPv4' ? 4 : 6);
  return [...(isFamily ? [] : [FieldError.invalid(path, address, `must be an ${type} address`)]), ...validateEndpointIp(at, address)];
}

function validateTopology(path: Path, topology: Readonly<Record<string, string>>): FieldError[] {
  const size = Object.keys(topology).length;
  const errors = size > MAX_TOPOLOGY_LABELS ? [FieldError.tooMany(path, size, MAX_TOPOLOGY_LABELS)] : [];
  return [...errors, ...validateLabels(topology, path)];
}

function validateHints(path: Path, { forZones = [], forNodes = [] }: EndpointHints): FieldError[] {
  const zones = validateHintNames(path.child('forZones'), forZones, checkLabelValue);
  if (forZones.length > MAX_HINTS) return zones;
  return [...zones, ...validateHintNames(path.child('forNodes'), forNodes, (name) => nameIsDnsSubdomain(name, false))];
}

function validateHintNames(path: Path, hints: readonly { readonly name: string }[], check: (name: string) => Problems): FieldError[] {
  if (hints.length > MAX_HINTS) return [FieldError.tooMany(path, hints.length, MAX_HINTS)];
  const seen = new Set<string>();
  return itemErrors(hints, ({ name = '' }, i) => {
    const at = path.index(i).child('name');
    const duplicate = seen.has(name) ? [FieldError.duplicate(at, name)] : [];
    seen.add(name);
    return [...duplicate, ...invalidErrors(at, name, check(name))];
  });
}

/** The controllers' own slices are known to be valid. */
export function endpointSliceWarnings({ metadata, addressType, endpoints }: EndpointSlice, old?: EndpointSlice): readonly string[] {
  const warnings = addressType === 'FQDN' && !old ? ['spec.addressType: FQDN endpoints are deprecated'] : [];
  if (CONTROLLERS.includes(metadata.labels?.[MANAGED_BY] ?? '')) return warnings;
  const addresses = (endpoints ?? []).flatMap((endpoint, i) =>
    (endpoint.addresses ?? []).flatMap((address, j) => ipWarnings(ENDPOINTS.index(i).child('addresses').index(j), address)),
  );
  return [...warnings, ...addresses];
}
