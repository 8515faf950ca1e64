import { commonFlagsWithoutEffect } from './common-flags.ts';
import { type FlagTable, flagsWithoutEffect } from './flag-table.ts';

/** kube-controller-manager flags without an effect here. */
export function controllerManagerFlagsWithoutEffect<S>(): FlagTable<S> {
  return {
    ...commonFlagsWithoutEffect<S>(),
    ...cloudFlags<S>(),
    ...volumeFlags<S>(),
    ...flagsWithoutEffect<S>('nodes get ranges of --cluster-cidr', { 'cidr-allocator-type': 'text' }),
    ...flagsWithoutEffect<S>('give the address of the API server in --kubeconfig', { master: 'text' }),
    ...flagsWithoutEffect<S>('objects are exchanged as JSON', { 'kube-api-content-type': 'text' }),
    ...flagsWithoutEffect<S>('caches follow the API server without being filled again', {
      'min-resync-period': 'duration',
      'namespace-sync-period': 'duration',
    }),
    ...flagsWithoutEffect<S>('all controllers start together and stop at once', {
      'controller-start-interval': 'duration',
      'controller-shutdown-timeout': 'duration',
    }),
    ...flagsWithoutEffect<S>('there are no controllers to hand over to another program', {
      'enable-leader-migration': 'bool',
      'leader-migration-config': 'file',
    }),
    ...flagsWithoutEffect<S>('leases are the one kind of lock', { 'leader-elect-resource-lock': 'text' }),
    ...flagsWithoutEffect<S>('changes of endpoints are written as they come', {
      'endpoint-updates-batch-period': 'duration',
      'endpointslice-updates-batch-period': 'duration',
      'mirroring-endpointslice-updates-batch-period': 'duration',
    }),
    ...flagsWithoutEffect<S>('these controllers have a fixed number of workers', {
      'concurrent-device-taint-eviction-syncs': 'count',
      'concurrent-resourceclaim-syncs': 'count',
      'concurrent-validating-admission-policy-status-syncs': 'count',
    }),
  };
}

function cloudFlags<S>(): FlagTable<S> {
  return flagsWithoutEffect<S>('no cloud provider is built in', {
    'allow-untagged-cloud': 'bool',
    'cloud-config': 'file',
    'cloud-provider': 'text',
    'cluster-name': 'text',
    'concurrent-service-syncs': 'count',
    'configure-cloud-routes': 'bool',
    'external-cloud-volume-plugin': 'text',
    'node-sync-period': 'duration',
    'route-reconciliation-period': 'duration',
  });
}

function volumeFlags<S>(): FlagTable<S> {
  return {
    ...flagsWithoutEffect<S>('volumes are provisioned by classes', {
      'enable-dynamic-provisioning': 'bool',
      'enable-hostpath-provisioner': 'bool',
      'flex-volume-plugin-dir': 'file',
    }),
    ...flagsWithoutEffect<S>('attachments follow what pods and nodes report, and are forced off after six minutes', {
      'attach-detach-reconcile-sync-period': 'duration',
      'disable-attach-detach-reconcile-sync': 'bool',
      'disable-force-detach-on-timeout': 'bool',
    }),
  };
}
