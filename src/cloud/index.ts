export {
  type AddressAnnouncerConfig,
  type AddressAnnouncerDeps,
  startAddressAnnouncer,
} from './address-announcer/start-address-announcer.ts';
export {
  checkRanges,
  LOAD_BALANCER_CLASS,
  type LocalLoadBalancerConfig,
  type LocalLoadBalancerDeps,
  startLocalLoadBalancer,
} from './local-load-balancer/start-local-load-balancer.ts';
