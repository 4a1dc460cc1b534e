"""Compares when the scheduler's patterns fire with PyPI `cronsim`, which follows Debian's cron:
200 patterns, 3 years, in 10 zones whose clocks change at an ordinary hour, and in 5 odd ones.
Usage: compare.py PATH/TO/firings

In the odd zones the clock jumps at midnight or not by whole hours. There `cronsim` takes steps of
real time wrong: it fires at a midnight that does not exist, or walks on at half past. So patterns
that go by real time are compared there with the list of local times that `cronsim` gives without a
zone, each at every instant at which the zone shows it. Times of day are `cronsim`'s own everywhere.
"""

import itertools
import random
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

ZONES = [
    "Europe/Berlin", "Europe/London", "America/New_York", "America/Los_Angeles", "America/St_Johns",
    "Africa/Casablanca", "Asia/Jerusalem", "Antarctica/Troll", "Australia/Sydney", "Pacific/Auckland",
]
ODD = ["America/Santiago", "America/Havana", "Africa/Cairo", "Australia/Lord_Howe", "Pacific/Chatham"]
FROM = datetime(2025, 1, 1, 12, tzinfo=timezone.utc)
TO = datetime(2028, 1, 1, 12, tzinfo=timezone.utc)

# Patterns with more firings in a year are left out.
DENSE = 1_500

# What both have to refuse.
WRONG = ["60 * * * *", "* 24 * * *", "0 0 0 * *", "0 0 * 13 *", "0 0 * * 8", "0 0 * *", "*/0 * * * *",
         "5-1 * * * *", "0 0 * * FRI-MON", "1,,2 * * * *", "a * * * *", "0 0 15W * *", "0 0 * * 1#6"]


def patterns():
    """200 patterns, always the same: times of day, lists, ranges, steps, months, weekdays."""
    dice = random.Random(16)
    fixed_minutes = ["0", "30", "15,45", "0-10", "10-50/20", "59", "7", "0,1", "20/20"]
    fixed_hours = ["0", "1", "2", "3", "1-3", "0-4/2", "2,3", "9", "23", "0,12", "1,2,22-23"]
    star_minutes = ["*/20", "*/7", "*/30", "*"]
    star_hours = ["*", "*/2", "*/3", "*/5"]
    days = ["*", "*", "*", "1", "L", "1-7", "*/2", "15,L", "29-31", "LW"]
    months = ["*", "*", "3,10", "MAR", "4-9", "*/6", "11"]
    weekdays = ["*", "*", "*", "SUN", "1-5", "0", "7", "SAT,SUN", "*/3", "5L", "1#2", "6-7"]
    found = []
    seen = set()
    while len(found) < 200:
        kind = len(found) % 4
        minute = dice.choice(star_minutes if kind == 1 else fixed_minutes)
        hour = dice.choice(star_hours if kind in (2, 3) else fixed_hours)
        if kind == 3:
            minute = dice.choice(star_minutes + fixed_minutes)
        pattern = " ".join([minute, hour, dice.choice(days), dice.choice(months), dice.choice(weekdays)])
        if pattern not in seen:
            seen.add(pattern)
            # Every minute of every day would take most of the time and show nothing more.
            year = itertools.takewhile(lambda at: at < FROM + timedelta(days=366), CronSim(pattern, FROM))
            if sum(1 for _ in itertools.islice(year, DENSE)) < DENSE:
                found.append(pattern)
    return found


def by_local_times(pattern, zone):
    """The firings of a pattern of real time: every instant at which the zone shows a match."""
    first = FROM.astimezone(zone).replace(tzinfo=None) - timedelta(days=2)
    last = TO.astimezone(zone).replace(tzinfo=None) + timedelta(days=2)
    local = itertools.takewhile(lambda at: at <= last, CronSim(pattern, first))
    both = set()
    for at in local:
        for fold in (0, 1):
            instant = at.replace(tzinfo=zone, fold=fold).astimezone(timezone.utc)
            if instant.astimezone(zone).replace(tzinfo=None) == at and FROM < instant <= TO:
                both.add(int(instant.timestamp()))
    return sorted(both)


def oracle(job):
    zone_name, pattern = job
    zone = ZoneInfo(zone_name)
    try:
        CronSim(pattern, FROM)
        minute, hour = pattern.split()[:2]
        if zone_name in ODD and "*" in (minute[0], hour[0]):
            return by_local_times(pattern, zone)
        found = []
        for at in CronSim(pattern, FROM.astimezone(zone)):
            second = int(at.timestamp())
            if second > TO.timestamp():
                return found
            if second > FROM.timestamp():
                found.append(second)
        return found
    except CronSimError as error:
        return f"refused: {error}"


def main():
    program = sys.argv[1]
    wanted = patterns() + WRONG
    jobs = [(zone, pattern) for zone in ZONES + ODD for pattern in wanted]
    asked = "".join(f"{zone}\t{int(FROM.timestamp())}\t{int(TO.timestamp())}\t{pattern}\n" for zone, pattern in jobs)
    ours = subprocess.run([program], input=asked, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    assert len(ours) == len(jobs), f"{len(ours)} answers to {len(jobs)} lines"
    compared = refused = firings = differ = 0
    with ProcessPoolExecutor() as pool:
        for (zone, pattern), line, theirs in zip(jobs, ours, pool.map(oracle, jobs, chunksize=16)):
            if line.startswith("refused:") or isinstance(theirs, str):
                if not (line.startswith("refused:") and len(line) > 40 and isinstance(theirs, str)):
                    differ += 1
                    print(f"DIFFERENT {zone} `{pattern}`: ours {line[:80]!r}, theirs {str(theirs)[:80]!r}")
                refused += 1
                continue
            mine = [int(second) for second in line.split()]
            compared += 1
            firings += len(mine)
            if mine != theirs:
                differ += 1
                odd = sorted(set(mine) ^ set(theirs))[:3]
                shown = [datetime.fromtimestamp(at, ZoneInfo(zone)).isoformat() for at in odd]
                print(f"DIFFERENT {zone} `{pattern}`: {len(mine)} and {len(theirs)} firings, first {shown}")
    print(f"{compared} pairs of zone and pattern, {firings} firings, {refused} refused by both, {differ} differences")
    return differ > 0 or compared != len(ZONES + ODD) * 200 or firings < 500_000


if __name__ == "__main__":
    sys.exit(main())
