import { FieldSelector, parseFieldSelector, parseLabelSelector, Selector, SelectorError, StatusError } from '#machinery';
import type { ServedResource } from '../registry/generic/served-resource.ts';
import type { KubeObject } from '../watch-cache/kube-object.ts';
import type { WatchFilter } from '../watch-cache/watcher.ts';
import { type ListOptions, listOptions } from './list-options.ts';
import type { ResourceCall } from './resource-call.ts';

/** Which objects of a resource a list or a watch is about. */
export interface Selection {
  readonly labels: Selector;
  readonly fields: FieldSelector;
  /** Undefined when everything matches. */
  readonly matches: ((object: KubeObject) => boolean) | undefined;
}

/** The options and selectors of a list, watch or deletecollection. */
export function selectionOf(
  { request, resource, name }: ResourceCall<ServedResource>,
  watch: boolean,
): { options: ListOptions; selection: Selection } {
  const { query } = request;
  let labels = Selector.everything;
  let fieldSelector = FieldSelector.everything;
  const options = listOptions(query, watch, () => {
    labels = parsed(query.get('labelSelector') ?? '', parseLabelSelector, Selector.everything);
    fieldSelector = parsed(query.get('fieldSelector') ?? '', parseFieldSelector, FieldSelector.everything);
  });
  const fields = withName(selectableFields(fieldSelector, resource), name);
  return { options, selection: { labels, fields, matches: matcher(resource, labels, fields) } };
}

function parsed<T>(text: string, parse: (text: string) => T, fallback: T): T {
  if (text === '') return fallback;
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof SelectorError) throw StatusError.badRequest(error.message);
    throw error;
  }
}

/** A list or watch of a single name adds a requirement on metadata.name. */
function withName(fields: FieldSelector, name: string): FieldSelector {
  if (name === '') return fields;
  if (fields.isEmpty) return FieldSelector.of([{ field: 'metadata.name', operator: '=', value: name }]);
  if (fields.requiredValue('metadata.name') === name) return fields;
  throw StatusError.badRequest("fieldSelector metadata.name doesn't match requested name");
}

function selectableFields(selector: FieldSelector, resource: ServedResource): FieldSelector {
  const { selectableFields, fieldLabelError } = resource.strategy;
  // Kinds with their own field label errors have no metadata.namespace unless namespaced.
  const hasNamespace = resource.namespaced || fieldLabelError === undefined;
  for (const { field } of selector.requirements) {
    if (field === 'metadata.name' || (field === 'metadata.namespace' && hasNamespace)) continue;
    if (selectableFields && Object.hasOwn(selectableFields, field)) continue;
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

/** Whether the selectors apply to objects that a conversion webhook returns, rather than to those in the cache. */
export function selectsConverted({ remote }: ServedResource, { matches }: Selection): boolean {
  return remote !== undefined && matches !== undefined;
}

/** The selection as the watch cache applies it. */
export function watchFilter(call: ResourceCall, selection: Selection): WatchFilter {
  const { labels, fields, matches } = selection;
  const prefix = call.resource.storage.prefixOf(call.namespace);
  if (selectsConverted(call.resource, selection)) return { key: `${prefix}\nunselected`, prefix, matches: undefined, keepsPrevious: true };
  const key = `${prefix}\n${labels}\n${fields}`;
  return { key, prefix, matches, trigger: fields.requiredValue('spec.nodeName') };
}
