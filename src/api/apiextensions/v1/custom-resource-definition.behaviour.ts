import { encodeJson, goQuote, structural } from '#machinery';
import type { KindBehaviour } from '../../behaviour.ts';
import { sameValue } from '../../field-checks.ts';
import { NAME_COLUMN } from '../../table-cells.ts';
import { CustomResourceDefinition, type CustomResourceDefinitionStatus } from './custom-resource-definition.ts';
import {
  validateCustomResourceDefinition,
  validateCustomResourceDefinitionStatusUpdate,
  validateCustomResourceDefinitionUpdate,
} from './custom-resource-definition.validation.ts';
import type { CustomResourceDefinitionNames } from './custom-resource-definition-names.ts';
import type { CustomResourceConversion, CustomResourceDefinitionSpec, JSONSchemaProps } from './custom-resource-definition-spec.ts';
import { schemasOf } from './internal-definition.ts';
import { schemaHas } from './schema-walk.ts';

const HTTPS_PORT = 443;

export const customResourceDefinitionBehaviour: KindBehaviour<CustomResourceDefinition> = {
  kind: CustomResourceDefinition,
  defaults: defaultCustomResourceDefinition,
  validate: validateCustomResourceDefinition,
  validateUpdate: validateCustomResourceDefinitionUpdate,
  validateStatusUpdate: validateCustomResourceDefinitionStatusUpdate,
  warnings: formatWarnings,
  table: {
    columns: [NAME_COLUMN, { name: 'Created At', type: 'date', description: 'When the definition was created.' }],
    cells: ({ metadata }) => [metadata.name, metadata.creationTimestamp ?? null],
  },
};

function defaultCustomResourceDefinition(definition: CustomResourceDefinition): CustomResourceDefinition {
  const spec = defaultSpec(definition.spec);
  const status = withStoredVersion(definition.status, definition.spec);
  return spec === definition.spec && status === definition.status ? definition : { ...definition, spec, ...(status && { status }) };
}

function defaultSpec(spec: CustomResourceDefinitionSpec): CustomResourceDefinitionSpec {
  const names = defaultNames(spec.names);
  const conversion = defaultConversion(spec.conversion);
  return names === spec.names && conversion === spec.conversion ? spec : { ...spec, names, conversion };
}

function defaultNames(names: CustomResourceDefinitionNames): CustomResourceDefinitionNames {
  const { kind = '', singular, listKind } = names;
  if (kind === '' || (singular && listKind)) return names;
  return { ...names, singular: singular || kind.toLowerCase(), listKind: listKind || `${kind}List` };
}

function defaultConversion(conversion: CustomResourceConversion | undefined): CustomResourceConversion {
  if (conversion === undefined) return { strategy: 'None' };
  const { webhook } = conversion;
  const service = webhook?.clientConfig?.service;
  if (webhook === undefined || service === undefined || service.port !== undefined) return conversion;
  const clientConfig = { ...webhook.clientConfig, service: { ...service, port: HTTPS_PORT } };
  return { ...conversion, webhook: { ...webhook, clientConfig } };
}

/** Adds the storage version to status.storedVersions. */
export function withStoredVersion<S extends CustomResourceDefinitionStatus | undefined>(status: S, spec: CustomResourceDefinitionSpec): S {
  const stored = status?.storedVersions ?? [];
  const storage = (spec.versions ?? []).find((version) => version.storage)?.name;
  if (storage === undefined || stored.length > 0) return status;
  return { conditions: null, acceptedNames: { plural: '', kind: '' }, ...status, storedVersions: [storage] } as unknown as S;
}

/** A new definition's status only has the storage version. */
export function prepareCustomResourceDefinitionForCreate(definition: CustomResourceDefinition): CustomResourceDefinition {
  const { status: _, ...rest } = definition;
  const status = withStoredVersion(EMPTY_STATUS, definition.spec);
  return { ...rest, metadata: { ...definition.metadata, generation: 1 }, status };
}

const EMPTY_STATUS = {
  conditions: null,
  acceptedNames: { plural: '', kind: '' },
  storedVersions: null,
} as unknown as CustomResourceDefinitionStatus;

/** An update keeps the status and adds the storage version to status.storedVersions. */
export function prepareCustomResourceDefinitionForUpdate(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition,
): CustomResourceDefinition {
  const generation = (old.metadata.generation ?? 0) + (sameValue(definition.spec, old.spec) ? 0 : 1);
  const storage = (definition.spec.versions ?? []).find((version) => version.storage)?.name;
  const stored = old.status?.storedVersions ?? [];
  const storedVersions = storage === undefined || stored.includes(storage) ? stored : [...stored, storage];
  const status = { ...(old.status ?? EMPTY_STATUS), storedVersions };
  return { ...definition, metadata: { ...definition.metadata, generation }, status };
}

function formatWarnings(definition: CustomResourceDefinition, old?: CustomResourceDefinition): readonly string[] {
  const oldFormats = new Set(old === undefined ? [] : unknownFormats(old.spec));
  return unknownFormats(definition.spec)
    .filter((format) => !oldFormats.has(format))
    .map((format) => `unrecognized format ${goQuote(format)}`);
}

// A schema that all versions share is validated once.
function unknownFormats(spec: CustomResourceDefinitionSpec): string[] {
  const schemas = new Map(schemasOf(spec).map((schema) => [encodeJson(schema), schema])).values();
  const formats: string[] = [];
  const collect = (node: JSONSchemaProps): boolean => {
    if (node.format && !isKnownFormat(node.type ?? '', node.format)) formats.push(node.format);
    return false;
  };
  for (const schema of schemas) schemaHas(schema, collect);
  return formats;
}

function isKnownFormat(type: string, format: string): boolean {
  switch (type) {
    case '':
    case 'string':
      return structural.stringFormat(format) !== undefined;
    case 'integer':
      return format === 'int32' || format === 'int64';
    case 'number':
      return format === 'float' || format === 'double';
    default:
      return false;
  }
}
