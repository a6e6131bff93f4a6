/** The parameters of paths, by the collection before each; and which names a path says that a request is about. */
import { idParameter, nameParameter, type Parameters } from './input/parameters'
import { KINDS, type Subject, type SubjectKind } from './subjects'

const PLACES: Parameters = {
  'groups/{group}': nameParameter('The group.', 'article:42'),
  'items/{id}': idParameter('The id of the item.', '41'),
  'members/{member}': nameParameter('The member.', 'user-7'),
  'policies/{prefix}': nameParameter("The prefix of the groups' names.", 'article:'),
  'queues/{queue}': nameParameter('The queue.', 'mail'),
  'messages/{id}': idParameter('The id of the message.', '1042'),
  'keys/{key}': nameParameter('The key of the message.', 'index-7'),
  'schedules/{schedule}': nameParameter('The schedule.', 'nightly-report'),
  'feeds/{feed}': nameParameter('The feed.', 'users'),
  'entries/{key}': nameParameter('The key of the entry.', 'fred'),
  'consumers/{consumer}': nameParameter('The consumer.', 'search'),
}

/** The parameters of a path template, with the type that each is read as. */
export type PathOf<Template extends string> = Template extends `${string}{${infer Name}}${infer Rest}`
  ? { [N in Name]: N extends 'id' ? bigint : string } & PathOf<Rest>
  : unknown

const placesIn = (template: string) => template.match(/\w+\/\{\w+\}/g) ?? []
const parameterAt = (place: string) => place.slice(place.indexOf('{') + 1, -1)

export function pathParametersOf(template: string): Parameters {
  return Object.fromEntries(
    placesIn(template).map((place) => [parameterAt(place), PLACES[place] as Parameters[string]]),
  )
}

/** The subjects of the path of a request; a policy is about the groups of its prefix too. */
export function pathSubjectsOf(template: string): (path: unknown) => Subject[] {
  const named = placesIn(template)
    .map((place) => ({ kind: place.split('/')[0] as SubjectKind, parameter: parameterAt(place) }))
    .filter(({ kind }) => KINDS.includes(kind))
  return (path) =>
    named.flatMap(({ kind, parameter }): Subject[] => {
      const name = (path as Record<string, unknown>)[parameter]
      if (typeof name !== 'string') return []
      const subject = { kind, name, parameter }
      return kind === 'policies' ? [subject, { kind: 'groups', prefix: name }] : [subject]
    })
}
