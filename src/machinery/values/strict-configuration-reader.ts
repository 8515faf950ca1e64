import { aggregateFieldErrors, type FieldError } from '../errors/field-error.ts';
import { isJsonObject, type JsonValue } from '../json/json-value.ts';
import { ConfigurationReader, type Fields } from './configuration-reader.ts';
import { goQuote } from './go-format.ts';

/** The fields of a versioned configuration. Throws in upstream's words if it is of another kind or version. */
export function fieldsOfKind(value: JsonValue | undefined, kind: string, apiVersions: readonly string[]): Fields {
  const fields: Fields = isJsonObject(value) ? value : {};
  if (fields.kind !== kind || !apiVersions.includes(String(fields.apiVersion)))
    throw new Error(`no kind ${goQuote(String(fields.kind ?? ''))} is registered for version ${goQuote(String(fields.apiVersion ?? ''))}`);
  return fields;
}

/** Reads a configuration that is decoded strictly and then validated, as the API server's configuration files are. */
export class StrictConfigurationReader extends ConfigurationReader {
  readonly errors: FieldError[] = [];

  /** Throws all errors with upstream's text: decoding errors before validation errors. */
  throwIfInvalid(): void {
    if (this.problems.length > 0) throw new Error(`strict decoding error: ${this.problems.join(', ')}`);
    if (this.errors.length > 0) throw new Error(aggregateFieldErrors(this.errors));
  }
}
