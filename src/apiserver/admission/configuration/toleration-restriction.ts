import { core } from '#api';
import { aggregateFieldErrors, fieldsOfKind, type JsonValue, Path, StrictConfigurationReader } from '#machinery';
import type { TolerationRestriction } from '../plugins/pod-toleration-restriction.ts';

const VERSIONS = ['podtolerationrestriction.admission.k8s.io/v1alpha1'];
const FIELDS = ['key', 'operator', 'value', 'effect', 'tolerationSeconds'];

/** Throws with upstream's messages. */
export function readTolerationRestriction(value: JsonValue | undefined): TolerationRestriction {
  const fields = value === undefined ? {} : fieldsOfKind(value, 'Configuration', VERSIONS);
  const reader = new StrictConfigurationReader();
  reader.rejectUnknownFields(fields, ['apiVersion', 'kind', 'default', 'whitelist'], '');
  const tolerations = (name: 'default' | 'whitelist') =>
    reader.list(fields[name], name).map((item, i) => {
      reader.rejectUnknownFields(reader.object(item, `${name}[${i}]`), FIELDS, `${name}[${i}]`);
      return item as core.Toleration;
    });
  const restriction = { default: tolerations('default'), whitelist: tolerations('whitelist') };
  reader.throwIfInvalid();
  demandValid(restriction);
  return restriction;
}

function demandValid(restriction: TolerationRestriction): void {
  const at = Path.of('podtolerationrestriction');
  const errors = (['default', 'whitelist'] as const).flatMap((name) => core.tolerationErrors(restriction[name], at.child(name)));
  if (errors.length > 0) throw new Error(`invalid config: ${aggregateFieldErrors(errors)}`);
}
