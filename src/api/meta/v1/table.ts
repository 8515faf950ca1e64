import { always, any, anyObject, field, type Infer, int32, listOf, message, named, object, string } from '../../schema.ts';
import { ListMeta } from './list-meta.ts';

export const TableColumnDefinition = object('io.k8s.apimachinery.pkg.apis.meta.v1.TableColumnDefinition', 'A column of a table.', {
  name: always(0, string, 'The heading.'),
  type: always(0, string, 'The type of the cells, as in OpenAPI.'),
  format: always(0, string, 'The format of the cells, as in OpenAPI.'),
  description: always(0, string, 'The meaning of the column.'),
  priority: always(0, int32, '0 for columns that are always shown; higher ones only when there is room.'),
});
export type TableColumnDefinition = Infer<typeof TableColumnDefinition>;

export const TableRowCondition = object('io.k8s.apimachinery.pkg.apis.meta.v1.TableRowCondition', 'Something to be said of a row.', {
  type: always(0, named('v1.RowConditionType'), 'The type of finding.'),
  status: always(0, named('v1.ConditionStatus'), 'True, False or Unknown.'),
  reason: field(0, string, 'Why, as one CamelCase word.'),
  message: field(0, string, 'Why, in words.'),
});
export type TableRowCondition = Infer<typeof TableRowCondition>;

export const TableRow = object('io.k8s.apimachinery.pkg.apis.meta.v1.TableRow', 'A row of a table.', {
  cells: always(0, listOf(any('any')), 'The cells, one a column.'),
  conditions: field(0, listOf(TableRowCondition), 'What is to be said of the row, such as Completed.'),
  object: always(0, anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension'), 'The requested part of the object.'),
});
export type TableRow = Infer<typeof TableRow>;

export const Table = message('io.k8s.apimachinery.pkg.apis.meta.v1.Table', 'Objects as a table for people.', {
  metadata: always(0, ListMeta, "Standard object's metadata."),
  columnDefinitions: always(0, listOf(TableColumnDefinition), 'The columns.'),
  rows: always(0, listOf(TableRow), 'The rows.'),
});
export type Table = Infer<typeof Table>;
