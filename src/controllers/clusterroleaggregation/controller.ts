import { rbac } from '#api';
import { parseKey } from '#client';
import type { Controller } from '../runtime/controller.ts';
import { KeyedController } from '../runtime/keyed-controller.ts';
import { OwnWrites } from '../runtime/own-writes.ts';
import { aggregatedRules } from './reconcile.ts';

const FIELD_MANAGER = 'clusterrole-aggregation-controller';
const CONCURRENCY = 5;
const AGGREGATED = 'aggregated';
const IS_AGGREGATED = 'true';
const aggregation = ({ aggregationRule }: rbac.ClusterRole) => (aggregationRule === undefined ? [] : [IS_AGGREGATED]);

/** Sets the rules of aggregated ClusterRoles. */
export const clusterRoleAggregationController: Controller = {
  name: 'clusterrole-aggregation-controller',
  aliases: ['clusterrole-aggregation'],
  enabledByDefault: true,
  start(context) {
    const { informers, client } = context;
    const roles = informers.of(rbac.ClusterRole).addIndex(AGGREGATED, aggregation);
    const ownWrites = new OwnWrites();
    const controller = new KeyedController(context, {
      name: 'ClusterRoleAggregator',
      concurrency: CONCURRENCY,
      objects: roles.lister,
      async sync(key) {
        // The event of the write requeues the key.
        if (!ownWrites.clearSeen(key)) return;
        const role = roles.lister.get(parseKey(key));
        const rules = role && aggregatedRules(role, roles.lister.list());
        if (role === undefined || rules === undefined) return;
        const { name } = role.metadata;
        const patch = { metadata: { name }, rules };
        ownWrites.wrote(key, roles, await client.of(rbac.ClusterRole).apply(patch, { fieldManager: FIELD_MANAGER, force: true }));
      },
    });
    // Any role may be selected by any aggregated role.
    const enqueue = () => {
      for (const role of roles.lister.byIndex(AGGREGATED, IS_AGGREGATED)) controller.enqueue(role);
    };
    roles.addHandler({ add: enqueue, update: enqueue, delete: enqueue });
    return controller;
  },
};
