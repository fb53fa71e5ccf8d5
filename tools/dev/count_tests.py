#!/usr/bin/env python3
"""Counts the test cases of one Bazel run.

    count_tests.py EVENTS [STATUS]

EVENTS is the file that `bazel test --build_event_json_file` wrote: it names
the test.xml of exactly the tests of that run, cached ones included. STATUS is
0 if all went well before. Prints the cases that failed and were skipped, then
"N passed, N failed, N skipped"; exits with 1 when anything failed, when no
case ran, or when STATUS is not 0.
"""

import collections
import json
import sys
import urllib.parse
import xml.etree.ElementTree


def last_results(events_path):
  """Maps (label, run, shard) to (status, path of test.xml or None)."""
  results = {}
  tests = set()
  with open(events_path, encoding='utf-8') as events:
    for line in events:
      event = json.loads(line)
      event_id = event.get('id', {})
      # A test that did not build has no result, only a target that failed.
      if 'testSize' in event.get('configured', {}):
        tests.add(event_id['targetConfigured']['label'])
      if 'targetCompleted' in event_id:
        label = event_id['targetCompleted']['label']
        if label in tests and not event.get('completed', {}).get('success'):
          results[label, 1, 1] = ('FAILED TO BUILD', None)
      key = event_id.get('testResult')
      if key is None or 'testResult' not in event:
        continue
      result = event['testResult']
      paths = [
          urllib.parse.unquote(urllib.parse.urlparse(output['uri']).path)
          for output in result.get('testActionOutput', [])
          if output.get('name') == 'test.xml' and 'uri' in output
      ]
      # A later attempt of the same test replaces the earlier one.
      results[key['label'], key.get('run', 1), key.get('shard', 1)] = (
          result.get('status', 'NO_STATUS'), paths[0] if paths else None)
  return results


def case_outcome(case):
  """'passed', 'failed', 'skipped', or None for a case that is disabled."""
  if case.find('failure') is not None or case.find('error') is not None:
    return 'failed'
  if case.find('skipped') is not None or case.get('result') == 'skipped':
    return 'skipped'
  if case.get('status') == 'notrun':
    return None
  return 'passed'


def cases(path):
  """Yields (name, outcome, message) for each case in a test.xml."""
  try:
    root = xml.etree.ElementTree.parse(path).getroot()
  except (OSError, TypeError, xml.etree.ElementTree.ParseError):
    return
  for case in root.iter('testcase'):
    outcome = case_outcome(case)
    if outcome is None:
      continue
    name = '.'.join(filter(None, [case.get('classname'), case.get('name')]))
    skipped = case.find('skipped')
    message = skipped.get('message', '') if skipped is not None else ''
    yield name, outcome, ' '.join(message.split())


def main():
  earlier_status = int(sys.argv[2]) if len(sys.argv) > 2 else 0
  counts = collections.Counter()
  results = sorted(last_results(sys.argv[1]).items())
  for (label, _, _), (status, path) in results:
    failed_here = 0
    for name, outcome, message in cases(path):
      counts[outcome] += 1
      if outcome == 'failed':
        failed_here += 1
        print(f'FAILED: {label} {name}')
      elif outcome == 'skipped':
        print(f'skipped: {label} {name}: {message}')
    # A test that timed out may have no failed case of its own.
    if status != 'PASSED' and failed_here == 0:
      counts['failed'] += 1
      print(f'{status}: {label}')
  if sum(counts.values()) == 0:
    print('No test ran.')
    earlier_status = 1
  sys.stdout.flush()
  print(f"{counts['passed']} passed, {counts['failed']} failed, "
        f"{counts['skipped']} skipped")
  return 1 if earlier_status or counts['failed'] else 0


if __name__ == '__main__':
  sys.exit(main())
