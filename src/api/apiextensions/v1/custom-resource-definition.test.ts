// One file: the rules of one kind, whose cases share a definition.
import { describe, expect, it } from 'vitest';
import { decodeObject, type JsonObject, type JsonValue } from '#machinery';
import {
  customResourceDefinitionBehaviour,
  prepareCustomResourceDefinitionForCreate,
  prepareCustomResourceDefinitionForUpdate,
} from './custom-resource-definition.behaviour.ts';
import { CustomResourceDefinition } from './custom-resource-definition.ts';
import type { JSONSchemaProps, ValidationRule } from './custom-resource-definition-spec.ts';

const { defaults, validate, validateUpdate, warnings } = customResourceDefinitionBehaviour;
const ANYTHING: JSONSchemaProps = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
const SCHEMA = 'spec.validation.openAPIV3Schema';

interface Parts {
  readonly schema?: JSONSchemaProps;
  readonly version?: JsonObject;
  readonly spec?: JsonObject;
  readonly metadata?: JsonObject;
}

function definition({ schema = ANYTHING, version = {}, spec = {}, metadata = {} }: Parts = {}): CustomResourceDefinition {
  const versions = [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version }];
  const names = { plural: 'widgets', kind: 'Widget' };
  const object = {
    metadata: { name: 'widgets.example.com', ...metadata },
    spec: { group: 'example.com', scope: 'Namespaced', names, versions, ...spec },
  };
  const decoded = decodeObject(CustomResourceDefinition, object as unknown as JsonValue).object as unknown as CustomResourceDefinition;
  return prepareCustomResourceDefinitionForCreate(defaults?.(decoded) ?? decoded);
}

const errorsOf = (parts: Parts) => (validate?.(definition(parts)) ?? []).map(String);
const field = (schema: JSONSchemaProps): Parts => ({ schema: { type: 'object', properties: { a: schema } } });
const ruled = (schema: JSONSchemaProps, ...rules: ValidationRule[]): Parts => field({ ...schema, 'x-kubernetes-validations': rules });

describe('a definition', () => {
  it('gets names, a conversion and its stored version', () => {
    const { spec, status } = definition();
    expect(spec.names).toEqual({ plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' });
    expect(spec.conversion).toEqual({ strategy: 'None' });
    expect(status?.storedVersions).toEqual(['v1']);
  });

  it('is defaulted once', () => {
    const once = definition();
    expect(defaults?.(once)).toBe(once);
  });

  it('is fine as most are', () => expect(errorsOf({})).toEqual([]));

  it.each<[string, Parts, readonly string[]]>([
    ['without schema', { version: { schema: null } as unknown as JsonObject }, ['spec.versions[0].schema.openAPIV3Schema: Required value']],
    [
      'with another name',
      { metadata: { name: 'gadgets.example.com' } },
      ['metadata.name: Invalid value: "gadgets.example.com": must be spec.names.plural+"."+spec.group'],
    ],
    [
      'that keeps unknown fields but has defaults',
      { ...field({ type: 'string', default: 'b' }), spec: { preserveUnknownFields: true } },
      [
        'spec.preserveUnknownFields: Invalid value: true: must be false in order to use defaults in the schema',
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
    ],
    [
      'with a group of one word',
      { metadata: { name: 'widgets.example' }, spec: { group: 'example' } },
      ['spec.group: Invalid value: "example": should be a domain with at least one dot'],
    ],
    [
      'with a bad scope',
      { spec: { scope: 'Galaxy' } },
      ['spec.scope: Unsupported value: "Galaxy": supported values: "Cluster", "Namespaced"'],
    ],
    [
      'with a list kind like its kind',
      { spec: { names: { plural: 'widgets', kind: 'Widget', listKind: 'Widget' } } },
      ['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'],
    ],
    [
      'that keeps unknown fields',
      { spec: { preserveUnknownFields: true } },
      [
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
    ],
    [
      'with a conversion nobody knows',
      { spec: { conversion: { strategy: 'Magic' } } },
      ['spec.conversion.strategy: Unsupported value: "Magic": supported values: "None", "Webhook"'],
    ],
    [
      'with a conversion without webhook',
      { spec: { conversion: { strategy: 'Webhook' } } },
      [
        'spec.conversion.webhookClientConfig: Required value: required when strategy is set to Webhook',
        'spec.conversion.conversionReviewVersions: Required value',
      ],
    ],
    [
      'with a webhook that is not secure',
      {
        spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig: { url: 'http://h/x?y' }, conversionReviewVersions: ['v7'] } } },
      },
      [
        'spec.conversion.webhookClientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
        'spec.conversion.webhookClientConfig.url: Invalid value: "y": query parameters are not permitted in the URL',
        'spec.conversion.conversionReviewVersions: Invalid value: ["v7"]: must include at least one of v1, v1beta1',
      ],
    ],
    [
      'of a group of Kubernetes',
      { metadata: { name: 'widgets.x.k8s.io' }, spec: { group: 'x.k8s.io' } },
      [
        'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ],
    ],
    [
      'with a bad column',
      { version: { additionalPrinterColumns: [{ name: 'C', type: 'frob', format: 'x', jsonPath: 'a' }] } },
      [
        'spec.additionalPrinterColumns[0].type: Invalid value: "frob": must be one of boolean,date,integer,number,string',
        'spec.additionalPrinterColumns[0].format: Invalid value: "x": must be one of byte,date,date-time,double,float,int32,int64,password',
        'spec.additionalPrinterColumns[0].JSONPath: Invalid value: "a": must be a simple json path starting with .',
      ],
    ],
    [
      'with bad scale paths',
      { version: { subresources: { scale: { specReplicasPath: '.status.x', statusReplicasPath: '', labelSelectorPath: '.x' } } } },
      [
        'spec.subresources.scale.specReplicasPath: Invalid value: ".status.x": should be a json path under .spec',
        'spec.subresources.scale.statusReplicasPath: Required value',
        'spec.subresources.scale.labelSelectorPath: Invalid value: ".x": should be a json path under either .spec or .status',
      ],
    ],
    [
      'with a root that status would miss',
      { version: { subresources: { status: {} } }, schema: { type: 'object', maxProperties: 3 } },
      [expect.stringContaining('fields are allowed at the root of the schema if the status subresource is enabled') as unknown as string],
    ],
    [
      'with a warning for a version that is not deprecated',
      { version: { deprecationWarning: 'x' } },
      ['spec.versions[0].deprecationWarning: Invalid value: "x": can only be set for deprecated versions'],
    ],
  ])('%s is refused', (_, parts, errors) => expect(errorsOf(parts)).toEqual(errors));

  it('names what only one version has by that version', () => {
    const versions = ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === 'v1',
      schema: { openAPIV3Schema: name === 'v1' ? ANYTHING : {} },
    }));
    expect(errorsOf({ spec: { versions } as unknown as JsonObject })).toEqual([
      'spec.versions[1].schema.openAPIV3Schema.type: Required value: must not be empty at the root',
    ]);
  });

  it('has one storage version, and no version twice', () => {
    const version = (name: string) => ({ name, served: true, storage: false, schema: { openAPIV3Schema: ANYTHING } });
    const printed = (name: string) =>
      `{"Name":"${name}","Served":true,"Storage":false,"Deprecated":false,"DeprecationWarning":null,"Schema":null,"Subresources":null,"AdditionalPrinterColumns":null,"SelectableFields":null}`;
    expect(errorsOf({ spec: { versions: [version('v1'), version('v1')] } as unknown as JsonObject })).toEqual([
      `spec.versions: Invalid value: [${printed('v1')},${printed('v1')}]: must contain unique version names`,
      `spec.versions: Invalid value: [${printed('v1')},${printed('v1')}]: must have exactly one version marked as storage version`,
      'status.storedVersions: Invalid value: null: must have at least one stored version',
    ]);
  });

  it('warns of formats that mean nothing, when they are new', () => {
    const object = definition(field({ type: 'string', format: 'frob' }));
    expect(warnings?.(object)).toEqual(['unrecognized format "frob"']);
    expect(warnings?.(object, object)).toEqual([]);
  });
});

describe('a schema', () => {
  it.each<[string, JSONSchemaProps, readonly string[]]>([
    [
      'of an unknown type',
      { type: 'frob' },
      [`.type: Unsupported value: "frob": supported values: "array", "boolean", "integer", "number", "object", "string"`],
    ],
    ['with $ref', { type: 'string', $ref: '#/x' }, ['.$ref: Forbidden: $ref is not supported']],
    [
      'with properties and others',
      { type: 'object', properties: { b: { type: 'string' } }, additionalProperties: { type: 'string' } },
      ['.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive'],
    ],
    [
      'with unique items',
      { type: 'array', items: { type: 'string' }, uniqueItems: true },
      ['.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic'],
    ],
    [
      'with a list of another type',
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'bag' },
      ['.x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"'],
    ],
    [
      'with keys of no list',
      { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-map-keys': ['k'] },
      ['.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty'],
    ],
    [
      'with a list type on text',
      { type: 'string', 'x-kubernetes-list-type': 'set' },
      ['.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified'],
    ],
    [
      'with a map type on text',
      { type: 'string', 'x-kubernetes-map-type': 'atomic' },
      ['.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified'],
    ],
    [
      'with a set of objects',
      { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' },
      ['.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set'],
    ],
    [
      'with keys that may be missing or null',
      {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k', 'k', 'x'],
        items: { type: 'object', properties: { k: { type: 'string', nullable: true } } },
      },
      [
        '.x-kubernetes-list-map-keys: Invalid value: ["k","k","x"]: must not contain duplicate entries',
        '.x-kubernetes-list-map-keys: Invalid value: ["k","k","x"]: entries must all be names of item properties',
        '.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        '.items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
        '.items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
        '.items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
      ],
    ],
  ])('%s is refused', (_, schema, errors) =>
    expect(errorsOf(field(schema))).toEqual(errors.map((error) => `${SCHEMA}.properties[a]${error}`)),
  );

  it('has no defaults in metadata', () => {
    const schema: JSONSchemaProps = { type: 'object', properties: { kind: { type: 'string', default: 'x' } } };
    expect(errorsOf({ schema })).toEqual([`${SCHEMA}.properties[kind].default: Forbidden: must not be set in top-level kind`]);
  });

  it('has sound defaults', () => {
    expect(errorsOf(field({ type: 'integer', minimum: 5, default: 1 }))).toEqual([
      `${SCHEMA}.properties[a].default: Invalid value: 1:  in body should be greater than or equal to 5`,
    ]);
    expect(errorsOf(ruled({ type: 'string', maxLength: 5, default: 'bad' }, { rule: 'self != "bad"' }))).toEqual([
      `${SCHEMA}.properties[a].default: Invalid value: "bad": failed rule: self != "bad"`,
    ]);
  });
});

describe('a rule of a schema', () => {
  const text: JSONSchemaProps = { type: 'string', maxLength: 9 };
  const printed = (rule: string, rest: JsonObject = {}) =>
    JSON.stringify({ Rule: rule, Message: '', MessageExpression: '', Reason: null, FieldPath: '', OptionalOldSelf: null, ...rest });

  it.each<[string, ValidationRule, string]>([
    ['that is empty', { rule: ' ' }, '.rule: Required value: rule is not specified'],
    ['with an empty message', { rule: 'true', message: ' ' }, '.message: Invalid value: " ": must be non-empty if specified'],
    [
      'on several lines without a message',
      { rule: 'true\n||true' },
      '.message: Required value: message must be specified if rule contains line breaks',
    ],
    [
      'with an unknown reason',
      { rule: 'true', reason: 'Because' },
      '.reason: Unsupported value: "Because": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
    ],
    ['with a path that leads nowhere', { rule: 'true', fieldPath: '.nope' }, '.fieldPath: Invalid value: ".nope": must be a valid path'],
    ['that is no boolean', { rule: 'self' }, `.rule: Invalid value: ${printed('self')}: cel expression must evaluate to a bool`],
    [
      'that does not compile',
      { rule: 'self == 5' },
      `.rule: Invalid value: ${printed('self == 5')}: compilation failed: ERROR: <input>:1:6: found no matching overload for '_==_' applied to '(string, int)'\n | self == 5\n | .....^`,
    ],
    [
      'with a message that is no text',
      { rule: 'true', messageExpression: '1' },
      `.messageExpression: Invalid value: ${printed('true', { MessageExpression: '1' })}: messageExpression must evaluate to a string`,
    ],
    [
      'with an old value it does not use',
      { rule: 'true', optionalOldSelf: true },
      '.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule',
    ],
  ])('%s is refused', (_, rule, error) =>
    expect(errorsOf(ruled(text, rule))).toEqual([`${SCHEMA}.properties[a].x-kubernetes-validations[0]${error}`]),
  );

  it('may not cost too much, alone or with others', () => {
    const deep: JSONSchemaProps = { type: 'array', items: { type: 'array', items: { type: 'string' } } };
    const at = `${SCHEMA}.properties[a].x-kubernetes-validations[0].rule`;
    const advice =
      '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';
    expect(errorsOf(ruled(deep, { rule: 'self.all(x, x.all(y, self.all(z, z.all(w, w == y))))' }))).toEqual([
      `${at}: Forbidden: estimated rule cost exceeds budget by factor of more than 100x ${advice}`,
      `${at}: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
      `${SCHEMA}: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x ${advice}`,
    ]);
  });

  it('may look at old values only where they can be found', () => {
    const rule = { rule: 'self == oldSelf' };
    expect(errorsOf(ruled(text, rule))).toEqual([]);
    expect(errorsOf(field({ type: 'array', maxItems: 2, items: { ...text, 'x-kubernetes-validations': [rule] } }))).toEqual([
      `${SCHEMA}.properties[a].items.x-kubernetes-validations[0].rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within ${SCHEMA}.properties[a]`,
    ]);
  });
});

describe('selectable fields', () => {
  const schema: JSONSchemaProps = {
    type: 'object',
    properties: { spec: { type: 'object', properties: { a: { type: 'string' }, o: { type: 'object' } } }, metadata: { type: 'object' } },
  };
  const select = (...paths: string[]): Parts => ({ schema, version: { selectableFields: paths.map((jsonPath) => ({ jsonPath })) } });

  it.each<[Parts, readonly string[]]>([
    [select('.spec.a'), []],
    [select('spec.a'), ['[0].jsonPath: Invalid value: "spec.a": is an invalid path: expected [ or . but got: spec']],
    [select(''), ['[0].jsonPath: Required value']],
    [select('.spec.nope'), ['[0].jsonPath: Invalid value: ".spec.nope": is an invalid path: does not refer to a valid field']],
    [
      select('.spec.o'),
      [
        '[0].jsonPath: Invalid value: ".spec.o": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      ],
    ],
    [select('.spec.a', '.spec.a'), ['[1].jsonPath: Duplicate value: ".spec.a"']],
  ])('are checked: %#', (parts, errors) => expect(errorsOf(parts)).toEqual(errors.map((error) => `spec.selectableFields${error}`)));
});

describe('an update of a definition', () => {
  const established = (object: CustomResourceDefinition): CustomResourceDefinition => ({
    ...object,
    status: { ...object.status, conditions: [{ type: 'Established', status: 'True' }] } as unknown as NonNullable<
      CustomResourceDefinition['status']
    >,
  });
  const errorsAfter = (old: CustomResourceDefinition, parts: Parts) =>
    (validateUpdate?.(prepareCustomResourceDefinitionForUpdate(definition(parts), old), old) ?? []).map(String);

  it('keeps kind and scope once it is established', () => {
    const changes = { spec: { scope: 'Cluster', names: { plural: 'widgets', kind: 'Gadget' } } };
    expect(errorsAfter(definition(), changes)).toEqual([]);
    expect(errorsAfter(established(definition()), changes)).toEqual([
      'spec.scope: Invalid value: "Cluster": field is immutable',
      'spec.names.kind: Invalid value: "Gadget": field is immutable',
    ]);
  });

  it('forgives what was wrong before', () => {
    const set: JSONSchemaProps = { type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'set' };
    expect(errorsAfter(definition(field(set)), field({ ...set, description: 'changed' }))).toEqual([]);
    expect(errorsAfter(definition(), field(set))).toHaveLength(1);
  });

  it('demands certificates to trust the webhook by once it is established', () => {
    const webhook = (caBundle: string): Parts => ({
      spec: {
        conversion: {
          strategy: 'Webhook',
          webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://a.example.com', caBundle } },
        },
      },
    });
    const broken = Buffer.from('-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n').toString('base64');
    const path = 'spec.conversion.webhookClientConfig.caBundle';
    expect(errorsOf(webhook('Cg=='))).toEqual([]);
    expect(errorsAfter(definition(), webhook('Cg=='))).toEqual([]);
    expect(errorsAfter(established(definition(webhook(broken))), webhook('Cg=='))).toEqual([]);
    expect(errorsAfter(established(definition()), webhook('Cg=='))).toEqual([
      `${path}: Invalid value: "Cg==": unable to load root certificates: unable to parse bytes as PEM block`,
    ]);
    expect(errorsAfter(established(definition()), webhook(broken))).toEqual([
      `${path}: Invalid value: "${broken}": unable to load root certificates: failed to parse certificate: x509: malformed certificate`,
    ]);
  });

  it('stores its objects once for each version that repeats the name of the stored one', () => {
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: ANYTHING } };
    const errors = errorsOf({ spec: { versions: [version, version] }, status: { storedVersions: ['v1'] } } as unknown as JsonObject);
    expect(errors.at(-1)).toBe('status.storedVersions: Invalid value: ["v1"]: must have the storage version v1');
  });

  it('remembers every version that objects were stored in', () => {
    const versions = ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v2', schema: { openAPIV3Schema: ANYTHING } }));
    const next = prepareCustomResourceDefinitionForUpdate(definition({ spec: { versions } as unknown as JsonObject }), definition());
    expect(next.status?.storedVersions).toEqual(['v1', 'v2']);
    expect(next.metadata.generation).toBe(2);
    const dropped = { ...definition({ spec: { versions: versions.slice(1) } as unknown as JsonObject }) };
    expect((validateUpdate?.(prepareCustomResourceDefinitionForUpdate(dropped, next), next) ?? []).map(String)).toEqual([
      'status.storedVersions[0]: Invalid value: "v1": missing from spec.versions; v1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1 and removes v1 from status.storedVersions',
    ]);
  });
});
