import type { AnySchema, Field, ListSchema, MapSchema, ObjectSchema, ScalarSchema, Schema } from '#machinery';
import type { Kind, Lifecycle } from './schema.ts';

export interface VersionOptions {
  readonly lifecycle: Lifecycle;
  /** Types with another form in this version, by the name of the type they replace: `DeviceRequest`. */
  readonly types?: ReadonlyMap<string, ObjectSchema>;
}

/** The same kind in another version of its group: all types have that version's names, and most have the same form. */
export function inVersion<T>(kind: Kind<T>, version: string, { lifecycle, types }: VersionOptions): Kind<T> {
  const rename = new VersionedTypes({ kind, version, types: types ?? new Map() });
  return { ...kind, ...rename.object(kind), version, lifecycle };
}

interface RenameOptions {
  readonly kind: Kind<unknown>;
  readonly version: string;
  readonly types: ReadonlyMap<string, ObjectSchema>;
}

/** The types of one version under the names of another. Each is created once, so that identical types stay identical. */
class VersionedTypes {
  readonly #renamedTypes = new Map<ObjectSchema, ObjectSchema>();
  readonly #types: ReadonlyMap<string, ObjectSchema>;
  readonly #from: { readonly version: string; readonly prefix: string };
  readonly #to: { readonly version: string; readonly prefix: string };

  constructor({ kind, version, types }: RenameOptions) {
    const prefix = kind.name.slice(0, -kind.kind.length);
    this.#types = types;
    this.#from = { version: kind.version, prefix };
    this.#to = { version, prefix: `${prefix.slice(0, -kind.version.length - 1)}${version}.` };
  }

  object(schema: ObjectSchema): ObjectSchema {
    if (!schema.name.startsWith(this.#from.prefix)) return schema;
    let renamed = this.#renamedTypes.get(schema);
    if (renamed === undefined) {
      const shortName = schema.name.slice(this.#from.prefix.length);
      renamed = this.#renamed(this.#types.get(shortName) ?? schema, shortName);
      this.#renamedTypes.set(schema, renamed);
    }
    return renamed;
  }

  #renamed(schema: ObjectSchema, shortName: string): ObjectSchema {
    const fields = schema.fields.map((field): Field => ({ ...field, schema: this.#schema(field.schema) }));
    return { ...schema, name: this.#to.prefix + shortName, fields, fieldsByName: new Map(fields.map((field) => [field.name, field])) };
  }

  #schema(schema: Schema): Schema {
    switch (schema.type) {
      case 'object':
        return this.object(schema);
      case 'list':
        return this.#withGoName({ ...schema, items: this.#schema(schema.items) });
      case 'map':
        return this.#withGoName({ ...schema, values: this.#schema(schema.values) });
      default:
        return this.#withGoName(schema);
    }
  }

  #withGoName<S extends ScalarSchema | ListSchema | MapSchema | AnySchema>(schema: S): S {
    if (!('goName' in schema) || !schema.goName?.startsWith(`${this.#from.version}.`)) return schema;
    return { ...schema, goName: this.#to.version + schema.goName.slice(this.#from.version.length) };
  }
}
