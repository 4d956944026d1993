"""Figures of a span of time, from the receiver's frames and the link's counters."""

import numpy as np

STILL_MS = 300   # a picture that stands longer than this counts as frozen


def sights(frames):
    """The first sight of each picture: when it was presented (seconds of the wall clock), and how old it was then (milliseconds)."""
    seen, times, ages = set(), [], []
    for frame in frames:
        if frame["number"] is None or frame["number"] in seen:
            continue
        seen.add(frame["number"])
        age = (frame["presented"] - frame["drawn"]) % 2**32
        times.append(frame["presented"] / 1000)
        ages.append(age if age < 2**31 else age - 2**32)
    return np.array(times), np.array(ages)


def percentile(values, share):
    return round(float(np.percentile(values, share)), 1) if len(values) else None


def shown(frames, begin, end):
    """What was seen between two moments of the wall clock."""
    times, ages = sights(frames)
    within = (times >= begin) & (times < end)
    gaps = np.diff(np.concatenate([[begin], times[within], [end]])) * 1000
    presented = [frame for frame in frames if begin <= frame["presented"] / 1000 < end]
    return {
        "fps": round(float(within.sum()) / (end - begin), 2),
        "latency_p50_ms": percentile(ages[within], 50),
        "latency_p95_ms": percentile(ages[within], 95),
        "longest_gap_ms": round(float(gaps.max())),
        "frozen_s": round(float(gaps[gaps > STILL_MS].sum()) / 1000, 2),
        "unreadable": sum(frame["number"] is None for frame in presented),
    }


class LinkCurve:
    """What left the link for the receiver, by the second. `samples`: (seconds since the start, counters)."""

    def __init__(self, samples):
        self.samples = samples

    def carried(self, begin, end):
        """kbit/s, dropped packets and the longest queueing between two moments."""
        within = [sample for sample in self.samples if begin <= sample[0] <= end]
        (first, start), (last, stop) = within[0], within[-1]
        return {
            "kbps": round((stop["bytes"] - start["bytes"]) * 8 / (last - first) / 1000),
            "dropped": stop["dropped"] - start["dropped"],
            "queue_ms": round(1000 * max(counters["longest"] for at, counters in within[1:])),
        }

    def seconds_to(self, rate, since):
        """Seconds after `since` until two seconds together carry that many bit/s; None if never."""
        later = [sample for sample in self.samples if sample[0] >= since]
        for (start, before), (end, after) in zip(later, later[2:]):
            if (after["bytes"] - before["bytes"]) * 8 / (end - start) >= rate:
                return round(end - since, 1)
        return None


def seconds_to_age(frames, limit_ms, since, until):
    """Seconds after `since` from which on the picture on the screen is younger than that in 95 of 100 moments of two seconds; None: not
    before `until`. The age counts on while a picture stands."""
    times, ages = sights(frames)
    if not len(times):
        return None
    moments = np.arange(since, until, 0.05)
    last = np.searchsorted(times, moments, side="right") - 1
    age = np.where(last >= 0, ages[np.clip(last, 0, None)] + (moments - times[np.clip(last, 0, None)]) * 1000, np.inf)
    for index in range(len(moments) - 40):
        if np.percentile(age[index:index + 40], 95) < limit_ms:
            return round(float(moments[index] - since), 2)
    return None
