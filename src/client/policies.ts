/** Policies: the methods of the library's `store.policies`. */
import type { SettingsCalls, SettingsNames } from './settings'
import type { CallOptions, SettingsOptions } from './transport'
import type Wire from './wire'
import type { Policy, PolicyChanges, PolicyPage, PolicySettings } from './wire'

export type PolicyListOptions = Wire['listPolicies']['query'] & CallOptions

export type PolicyCalls = SettingsCalls<{
  shown: Policy
  stored: Policy
  put: [settings: PolicySettings, options?: SettingsOptions]
  ensure: [settings: PolicySettings, options?: CallOptions]
  changes: PolicyChanges
  listed: Policy
  page: PolicyPage
  range: PolicyListOptions
}>

export const POLICIES: SettingsNames = { many: 'policies', absent: 'policy_not_found', shape: {} }
