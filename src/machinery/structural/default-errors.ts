import { pushAll } from '#base';
import { valuesEqual } from '../apply/typed-value.ts';
import { aggregateFieldErrors, FieldError } from '../errors/field-error.ts';
import { Path } from '../errors/field-path.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { coerceEmbedded, embeddedErrors, type MetadataRules } from './embedded-metadata.ts';
import { asResource, defaultOf, isEmbeddedResource, itemsOf, type JsonSchema, META_FIELDS, propertiesOf } from './json-schema.ts';
import { pruneValue } from './prune.ts';
import { ValueValidator } from './value-validator.ts';

/** Validates a default against its schema's rules; all defaults share the cost budget. */
export type DefaultRuleCheck = (schema: JsonSchema, value: JsonValue, where: { path: Path; isResource: boolean }) => readonly FieldError[];

export interface DefaultErrorsOptions {
  readonly metadata: MetadataRules;
  /** Defaults with unknown fields are rejected, unless they existed before. */
  readonly requirePruned: boolean;
  readonly checkRules?: DefaultRuleCheck;
}

/** Validates all defaults of a schema against the schema itself. */
export function defaultErrors(path: Path, schema: JsonSchema, options: DefaultErrorsOptions): FieldError[] {
  const root = asResource(schema);
  return new DefaultCheck(options).check(path, root, { root, surround: surroundResource, insideMeta: false });
}

interface DefaultContext {
  /** The resource, embedded or not, that the default is part of. */
  readonly root: JsonSchema;
  /** Puts a value where it would stand in that resource. */
  readonly surround: (value: JsonValue) => JsonObject;
  /** Within apiVersion, kind or metadata, which are only valid as a whole. */
  readonly insideMeta: boolean;
}

function surroundResource(value: JsonValue): JsonObject {
  return { kind: 'Validation', apiVersion: 'validation/v1', ...(value as JsonObject) };
}

class DefaultCheck {
  constructor(private readonly options: DefaultErrorsOptions) {}

  check(path: Path, schema: JsonSchema, outer: DefaultContext): FieldError[] {
    const context = isEmbeddedResource(schema) ? { root: schema, surround: surroundResource, insideMeta: false } : outer;
    const value = defaultOf(schema);
    const errors = value === undefined ? [] : this.checkDefault(path.child('default'), { schema, value }, context);
    const items = itemsOf(schema);
    if (items !== undefined) {
      pushAll(errors, this.check(path.child('items'), items, { ...context, surround: (item) => context.surround([item]) }));
    }
    for (const [name, property] of propertiesOf(schema)) {
      const insideMeta = context.insideMeta || (isEmbeddedResource(schema) && META_FIELDS.has(name));
      const surround = (member: JsonValue) => context.surround({ [name]: member });
      pushAll(errors, this.check(path.child('properties').key(name), property, { ...context, surround, insideMeta }));
    }
    return errors;
  }

  private checkDefault(path: Path, subject: { schema: JsonSchema; value: JsonValue }, context: DefaultContext): FieldError[] {
    const { schema, value } = subject;
    const unpruned = context.insideMeta ? [] : this.pruningErrors(path, schema, value);
    const metaErrors = context.insideMeta ? this.wholeErrors(path, value, context) : this.embeddedErrors(path, schema, value);
    if (metaErrors.length > 0) return [...unpruned, ...metaErrors];
    const valueErrors = new ValueValidator(schema).validate(value).errors.map((error) => error.toFieldError(path));
    if (valueErrors.length > 0) return [...unpruned, ...valueErrors];
    return [...unpruned, ...(this.options.checkRules?.(schema, value, { path, isResource: schema === context.root }) ?? [])];
  }

  private pruningErrors(path: Path, schema: JsonSchema, value: JsonValue): FieldError[] {
    if (!this.options.requirePruned || valuesEqual(pruneValue(schema, value), value)) return [];
    return [FieldError.invalid(path, value, 'must not have unknown fields')];
  }

  private embeddedErrors(path: Path, schema: JsonSchema, value: JsonValue): readonly FieldError[] {
    const { metadata: rules } = this.options;
    const { error, value: coerced } = coerceEmbedded(schema, value, { metadata: rules.schema, lenient: false, path });
    return error === undefined ? embeddedErrors(schema, coerced, { path, rules }) : [error];
  }

  private wholeErrors(path: Path, value: JsonValue, { root, surround }: DefaultContext): readonly FieldError[] {
    const { metadata: rules } = this.options;
    const { error, value: surrounded } = coerceEmbedded(root, surround(value), { metadata: rules.schema, lenient: false, path: Path.none });
    const errors = error === undefined ? embeddedErrors(root, surrounded, { path: Path.none, rules }) : [error];
    if (errors.length === 0) return [];
    return [FieldError.invalid(path, value, `must result in valid metadata: ${aggregateFieldErrors(errors)}`)];
  }
}
