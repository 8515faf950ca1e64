import { FieldSelector, parseFieldSelector, parseLabelSelector, Selector, SelectorError, StatusError } from '#machinery';
import type { KubeObject } from '../registry/kube-object.ts';
import type { ServedResource } from '../registry/served-resource.ts';
import type { WatchFilter } from '../watch-cache/watcher.ts';
import type { ResourceCall } from './resource-call.ts';

/** Which objects of a resource a list or a watch is about. */
export interface Selection {
  readonly labels: Selector;
  readonly fields: FieldSelector;
  /** Undefined when everything matches. */
  readonly matches: ((object: KubeObject) => boolean) | undefined;
}

export function selectionOf({ request, resource, name }: ResourceCall): Selection {
  const labels = parsed(request.query.get('labelSelector') ?? '', parseLabelSelector, Selector.everything);
  const asked = parsed(request.query.get('fieldSelector') ?? '', parseFieldSelector, FieldSelector.everything);
  const fields = knownFields(asked, resource);
  return { labels, fields: named(fields, name), matches: matcher(resource, labels, named(fields, name)) };
}

function parsed<T>(text: string, parse: (text: string) => T, everything: T): T {
  if (text === '') return everything;
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SelectorError) throw StatusError.badRequest(error.message);
    throw error;
  }
}

/** A watch or list for one name is a selection of that name. */
function named(fields: FieldSelector, name: string): FieldSelector {
  return name === '' ? fields : FieldSelector.of([...fields.requirements, { field: 'metadata.name', operator: '=', value: name }]);
}

function knownFields(selector: FieldSelector, resource: ServedResource): FieldSelector {
  const { selectableFields, fieldLabelError } = resource.strategy;
  for (const { field } of selector.requirements) {
    if (field === 'metadata.name' || field === 'metadata.namespace' || (selectableFields && Object.hasOwn(selectableFields, field)))
      continue;
    throw StatusError.badRequest(fieldLabelError?.(field) ?? unknownField(field));
  }
  return selector;
}

function unknownField(field: string): string {
  return `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`;
}

function matcher({ strategy }: ServedResource, labels: Selector, fields: FieldSelector): Selection['matches'] {
  if (labels.isEmpty && fields.isEmpty) return undefined;
  const byFields = (object: KubeObject) => fields.matchesBy((field) => fieldOf(strategy.selectableFields, object, field));
  if (fields.isEmpty) return (object) => labels.matches(object.metadata.labels);
  if (labels.isEmpty) return byFields;
  return (object) => labels.matches(object.metadata.labels) && byFields(object);
}

function fieldOf(
  selectable: Readonly<Record<string, (object: KubeObject) => string>> | undefined,
  object: KubeObject,
  field: string,
): string {
  if (field === 'metadata.name') return object.metadata.name;
  if (field === 'metadata.namespace') return object.metadata.namespace ?? '';
  return selectable?.[field]?.(object) ?? '';
}

/** The selection as the watch cache wants it. Selectable fields are those of the stored version. */
export function watchFilter(call: ResourceCall, { labels, fields, matches }: Selection): WatchFilter {
  const prefix = call.resource.storage!.prefixOf(call.namespace);
  const key = `${prefix}\n${labels}\n${fields}`;
  return { key, prefix, matches, trigger: fields.requiredValue('spec.nodeName') };
}
