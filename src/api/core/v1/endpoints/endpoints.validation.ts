import { pushAll } from '#base';
import { checkDns1123Label, checkPortNumber, checkQualifiedName, FieldError, itemErrors, nameIsDnsSubdomain, Path } from '#machinery';
import { invalidErrors, requiredValue, sameValue } from '../../../field-checks.ts';
import { ipWarnings, validateEndpointIp, validateLegacyIp } from '../../../ip.validation.ts';
import { validateObjectMeta, validateObjectMetaUpdate } from '../../../meta/v1/object-meta.validation.ts';
import { PORT_PROTOCOLS } from '../service/service.validation.ts';
import type { EndpointAddress, EndpointPort, EndpointSubset, Endpoints } from './endpoints.ts';

const SUBSETS = Path.of('subsets');
const META = { namespaced: true, nameRule: nameIsDnsSubdomain };

export function validateEndpoints(endpoints: Endpoints): FieldError[] {
  return [...validateObjectMeta(endpoints.metadata, META), ...validateSubsets(endpoints.subsets)];
}

/** Subsets that an older server accepted may stay. */
export function validateEndpointsUpdate(endpoints: Endpoints, old: Endpoints): FieldError[] {
  const errors = [...validateObjectMetaUpdate(endpoints.metadata, old.metadata), ...validateObjectMeta(endpoints.metadata, META)];
  const subsetErrors = validateSubsets(endpoints.subsets);
  return subsetErrors.length === 0 || sameValue(endpoints.subsets, old.subsets) ? errors : [...errors, ...subsetErrors];
}

function validateSubsets(subsets: readonly EndpointSubset[] = []): FieldError[] {
  return itemErrors(subsets, (subset, i) => validateSubset(SUBSETS.index(i), subset));
}

function validateSubset(path: Path, { addresses = [], notReadyAddresses = [], ports = [] }: EndpointSubset): FieldError[] {
  const errors: FieldError[] = [];
  if (addresses.length === 0 && notReadyAddresses.length === 0) {
    errors.push(FieldError.required(path, 'must specify `addresses` or `notReadyAddresses`'));
  }
  for (const error of itemErrors(addresses, (address, i) => validateAddress(path.child('addresses').index(i), address))) errors.push(error);
  for (const error of itemErrors(notReadyAddresses, (address, i) => validateAddress(path.child('notReadyAddresses').index(i), address)))
    errors.push(error);
  for (const error of itemErrors(ports, (port, i) => validatePort(path.child('ports').index(i), port, ports.length > 1)))
    errors.push(error);
  return errors;
}

function validateAddress(path: Path, { ip = '', hostname, nodeName }: EndpointAddress): FieldError[] {
  const errors = [...validateLegacyIp(path.child('ip'), ip)];
  if (hostname) pushAll(errors, invalidErrors(path.child('hostname'), hostname, checkDns1123Label(hostname)));
  if (nodeName !== undefined) pushAll(errors, invalidErrors(path.child('nodeName'), nodeName, nameIsDnsSubdomain(nodeName, false)));
  return [...errors, ...validateEndpointIp(path.child('ip'), ip)];
}

function validatePort(path: Path, { name, port = 0, protocol, appProtocol }: EndpointPort, named: boolean): FieldError[] {
  const errors: FieldError[] = [];
  if (name) pushAll(errors, invalidErrors(path.child('name'), name, checkDns1123Label(name)));
  else if (named) errors.push(FieldError.required(path.child('name')));
  pushAll(errors, invalidErrors(path.child('port'), port, checkPortNumber(port)));
  pushAll(errors, requiredValue(path.child('protocol'), protocol, PORT_PROTOCOLS));
  if (appProtocol !== undefined) pushAll(errors, invalidErrors(path.child('appProtocol'), appProtocol, checkQualifiedName(appProtocol)));
  return errors;
}

/** The endpoints controller's own objects are known to be valid. */
export function endpointsWarnings({ metadata, subsets = [] }: Endpoints): readonly string[] {
  if (metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller') return [];
  return subsets.flatMap((subset, i) =>
    (['addresses', 'notReadyAddresses'] as const).flatMap((field) =>
      (subset[field] ?? []).flatMap(({ ip }, j) => ipWarnings(SUBSETS.index(i).child(field).index(j).child('ip'), ip)),
    ),
  );
}
