import type { ObjectSchema } from '../../schema.ts';
import { ProtoOp, protoPlanOf } from './proto-plan.ts';
import { ProtobufError } from './protobuf-error.ts';
import { WireReader } from './wire-reader.ts';

/** Where a field stands in a message, with its tag and length. */
export interface FieldRange {
  readonly from: number;
  readonly to: number;
}

/** The position of the message field of this name, if it occurs exactly once. Undefined for invalid messages: the decoder reports the error. */
export function messageFieldRange(schema: ObjectSchema, message: Buffer, name: string): FieldRange | undefined {
  const field = protoPlanOf(schema).byName.get(name);
  if (field?.op !== ProtoOp.message || field.isRepeated || field.embeddedIn !== undefined) return undefined;
  try {
    return onlyField(new WireReader(message), field.number);
  } catch (error) {
    if (error instanceof ProtobufError) return undefined;
    throw error;
  }
}

function onlyField(reader: WireReader, number: number): FieldRange | undefined {
  let range: FieldRange | undefined;
  while (reader.position < reader.length) {
    const from = reader.position;
    const tag = reader.varint();
    reader.skip(tag & 7);
    if (tag >>> 3 !== number) continue;
    if (range !== undefined) return undefined;
    range = { from, to: reader.position };
  }
  return range;
}
