import type * as v1 from '../v1/custom-resource-definition.ts';
import type * as v1Spec from '../v1/custom-resource-definition-spec.ts';
import { internalDefinition } from '../v1/internal-definition.ts';
import type {
  CustomResourceColumnDefinition,
  CustomResourceConversion,
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from './custom-resource-definition.ts';

/** The top-level fields of this version that apply if they are equal in all versions of the resource. */
const SHARED = ['schema', 'subresources', 'additionalPrinterColumns', 'selectableFields'] as const;

export function definitionToV1({ spec, ...definition }: CustomResourceDefinition): v1.CustomResourceDefinition {
  const { group, names, scope, preserveUnknownFields = true } = spec;
  return {
    ...definition,
    spec: {
      ...{ group, names, scope: scope || 'Namespaced', versions: versionsToV1(spec) },
      conversion: conversionToV1(spec.conversion),
      ...(preserveUnknownFields && { preserveUnknownFields }),
    },
  } as v1.CustomResourceDefinition;
}

function versionsToV1(spec: CustomResourceDefinitionSpec): readonly v1Spec.CustomResourceDefinitionVersion[] {
  const only = spec.version ? [{ name: spec.version, served: true, storage: true }] : [];
  const versions: readonly CustomResourceDefinitionVersion[] = spec.versions?.length ? spec.versions : only;
  const top: Partial<CustomResourceDefinitionVersion> = { ...spec, ...(spec.validation && { schema: spec.validation }) };
  const shared = Object.fromEntries(SHARED.flatMap((name) => (top[name] === undefined ? [] : [[name, top[name]]])));
  return versions.map((version) => {
    const { additionalPrinterColumns: columns, ...rest } = { ...version, ...shared } as CustomResourceDefinitionVersion;
    return { ...rest, ...(columns && { additionalPrinterColumns: columns.map(columnToV1) }) };
  });
}

function columnToV1({ JSONPath: jsonPath, ...column }: CustomResourceColumnDefinition): v1Spec.CustomResourceColumnDefinition {
  return { ...column, jsonPath };
}

function conversionToV1(conversion: CustomResourceConversion | undefined): v1Spec.CustomResourceConversion {
  if (conversion === undefined) return { strategy: 'None' };
  const { strategy, webhookClientConfig: clientConfig, conversionReviewVersions } = conversion;
  if (clientConfig === undefined && conversionReviewVersions === undefined) return { strategy };
  const webhook = { ...(clientConfig && { clientConfig }), conversionReviewVersions: conversionReviewVersions ?? ['v1beta1'] };
  return { strategy, webhook };
}

export function definitionFromV1({ spec, ...definition }: v1.CustomResourceDefinition): CustomResourceDefinition {
  const { version, validation, subresources, additionalPrinterColumns, selectableFields, versions } = internalDefinition(spec);
  const { group, names, scope, conversion, preserveUnknownFields = false } = spec;
  return {
    ...definition,
    spec: {
      ...{ group, version, names, scope },
      ...(validation && { validation }),
      ...(subresources && { subresources }),
      versions: versions.map(versionFromV1),
      ...(additionalPrinterColumns.length > 0 && { additionalPrinterColumns: additionalPrinterColumns.map(columnFromV1) }),
      ...(selectableFields.length > 0 && { selectableFields }),
      ...(conversion && { conversion: conversionFromV1(conversion) }),
      preserveUnknownFields,
    },
  } as CustomResourceDefinition;
}

function versionFromV1({
  additionalPrinterColumns: columns,
  ...version
}: v1Spec.CustomResourceDefinitionVersion): CustomResourceDefinitionVersion {
  return { ...version, ...(columns && { additionalPrinterColumns: columns.map(columnFromV1) }) };
}

function columnFromV1({ jsonPath: JSONPath, ...column }: v1Spec.CustomResourceColumnDefinition): CustomResourceColumnDefinition {
  return { ...column, JSONPath };
}

function conversionFromV1({ strategy, webhook }: v1Spec.CustomResourceConversion): CustomResourceConversion {
  const { clientConfig: webhookClientConfig, conversionReviewVersions } = webhook ?? {};
  return {
    strategy,
    ...(webhookClientConfig && { webhookClientConfig }),
    ...(conversionReviewVersions && { conversionReviewVersions }),
  };
}
