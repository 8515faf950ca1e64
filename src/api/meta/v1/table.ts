import { always, any, anyObject, field, type Infer, int32, listOf, message, object, string } from '../../schema.ts';
import { ListMeta } from './list-meta.ts';

export const TableColumnDefinition = object('io.k8s.apimachinery.pkg.apis.meta.v1.TableColumnDefinition', '', {
  name: always(0, string),
  type: always(0, string),
  format: always(0, string),
  description: always(0, string),
  priority: always(0, int32),
});
export type TableColumnDefinition = Infer<typeof TableColumnDefinition>;

export const TableRowCondition = object('io.k8s.apimachinery.pkg.apis.meta.v1.TableRowCondition', '', {
  type: always(0, string),
  status: always(0, string),
  reason: field(0, string),
  message: field(0, string),
});
export type TableRowCondition = Infer<typeof TableRowCondition>;

export const TableRow = object('io.k8s.apimachinery.pkg.apis.meta.v1.TableRow', '', {
  cells: always(0, listOf(any('any'))),
  conditions: field(0, listOf(TableRowCondition)),
  object: always(0, anyObject('io.k8s.apimachinery.pkg.runtime.RawExtension')),
});
export type TableRow = Infer<typeof TableRow>;

export const Table = message('io.k8s.apimachinery.pkg.apis.meta.v1.Table', '', {
  metadata: always(0, ListMeta),
  columnDefinitions: always(0, listOf(TableColumnDefinition)),
  rows: always(0, listOf(TableRow)),
});
export type Table = Infer<typeof Table>;
