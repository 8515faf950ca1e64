import { compareBytes, encodeJson, encodeYaml, encodeYamlNode, indentJson, type JsonValue } from '#machinery';
import type { ListResponse } from '../handlers/api-response.ts';
import type { MediaOptions } from '../request/media.ts';
import { JSON_TYPE } from '../request/parse-body.ts';

/** The approximate chunk size; the event loop gets a turn between chunks. */
const CHUNK_LENGTH = 256 * 1024;

/** A document with one long list. */
export interface TextList {
  /** All members except the list. */
  readonly head: Readonly<Record<string, unknown>>;
  /** The list's member name; it is encoded last. */
  readonly name: 'items' | 'rows';
  /** Generated lazily. */
  readonly items: Iterable<object>;
}

/** A list, Table or metadata list as JSON or YAML, encoded item by item: memory and time per turn do not grow with it. */
export class TextListBody {
  readonly #list: TextList;
  readonly #media: MediaOptions;

  constructor(list: TextList, media: MediaOptions) {
    this.#list = list;
    this.#media = media;
  }

  *chunks(): Generator<Buffer> {
    let pending: string[] = [];
    let length = 0;
    for (const part of this.#parts()) {
      pending.push(part);
      length += part.length;
      if (length < CHUNK_LENGTH) continue;
      yield Buffer.from(pending.join(''));
      pending = [];
      length = 0;
    }
    yield Buffer.from(pending.join(''));
  }

  #parts(): Iterable<string> {
    const { mediaType, pretty } = this.#media;
    if (mediaType !== JSON_TYPE) return this.#yaml();
    return pretty ? this.#indentedJson() : this.#json();
  }

  *#json(): Generator<string> {
    const { head, name, items } = this.#list;
    let separator = `${encodeJson(head).slice(0, -'}'.length)},"${name}":[`;
    for (const item of items) {
      yield separator + encodeJson(item);
      separator = ',';
    }
    yield separator === ',' ? ']}\n' : `${separator}]}\n`;
  }

  *#indentedJson(): Generator<string> {
    const { head, name, items } = this.#list;
    yield `${indentJson(encodeJson(head)).slice(0, -'\n}'.length)},\n  "${name}": [`;
    let separator = '\n    ';
    for (const item of items) {
      yield separator + indentJson(encodeJson(item), 2);
      separator = ',\n    ';
    }
    yield separator.startsWith(',') ? '\n  ]\n}\n' : ']\n}\n';
  }

  *#yaml(): Generator<string> {
    const { head, name, items } = this.#list;
    const members = Object.entries(head);
    yield yamlMembers(members.filter(([key]) => compareBytes(key, name) < 0));
    let isEmpty = true;
    for (const item of items) {
      yield `${isEmpty ? `${name}:\n` : ''}- ${encodeYamlNode(item as JsonValue, 2)}\n`;
      isEmpty = false;
    }
    if (isEmpty) yield `${name}: []\n`;
    yield yamlMembers(members.filter(([key]) => compareBytes(key, name) > 0));
  }
}

function yamlMembers(members: readonly (readonly [string, unknown])[]): string {
  return members.length === 0 ? '' : encodeYaml(Object.fromEntries(members));
}

/** The objects of a list. Those of built-in kinds omit kind and apiVersion. */
export function* listItems({ resource, items }: ListResponse): Generator<object> {
  for (const { object } of items) {
    if (resource.itemsNameKind) yield object;
    else {
      const { kind: _k, apiVersion: _a, ...rest } = object;
      yield rest;
    }
  }
}
