#!/usr/bin/env python3
"""What every instance says of its permits, in one look.

  python3 look.py [--header 'Authorization: Bearer ...'] http://host-1:8080 http://host-2:8080 ...

A line for each permit that is used or changed. Below it who changed it, and the calls that have held for five seconds or more and for five
times the average. At the end the limits in which instances differ. An address that ends with /permits is that of the endpoint itself.
"""
import argparse
import concurrent.futures
import datetime
import email.utils
import json
import urllib.parse
import urllib.request

PATIENCE = 6  # seconds: an answer takes up to two command time-outs
LONG = 5  # seconds
SLOW = 500  # milliseconds


class Instance:
    """One address, and what it has answered."""

    def __init__(self, address, headers):
        self.url = address if address.endswith("/permits") else address.rstrip("/") + "/actuator/permits"
        self.headers = headers
        self.ahead = 0  # of its clock, in seconds
        self.states = {}  # the limit that it states, by permit
        self.name = address

    def ask(self, **query):
        url = self.url + ("?" + urllib.parse.urlencode(query) if query else "")
        with urllib.request.urlopen(urllib.request.Request(url, headers=self.headers), timeout=PATIENCE) as answer:
            document, date = json.load(answer), answer.headers["Date"]
        if date:  # whole seconds, so that a small difference is none
            ahead = email.utils.parsedate_to_datetime(date).timestamp() - datetime.datetime.now().timestamp()
            self.ahead = ahead if abs(ahead) > 2 else 0
        return document

    def age(self, instant):
        then = datetime.datetime.fromisoformat(instant.replace("Z", "+00:00")).timestamp()
        return max(0, datetime.datetime.now().timestamp() + self.ahead - then)

    def lines(self):
        try:
            all_of_it = self.ask()
            permits, store, self.name = all_of_it["permits"], all_of_it["store"], all_of_it["instance"]["name"]
        except Exception as e:  # whatever it is, the other instances are shown
            return [f"{self.name}  NO ANSWER: {e or type(e).__name__}"]
        took, slow, grace = store.get("tookMillis"), store.get("slowMillis"), store.get("keysInGrace")
        head = all_of_it.get("problem") or ("nothing asked" if took is None else f"{took} ms")
        if slow or (took or 0) >= SLOW:
            head += ", SLOW" + (f": {slow} ms on average" if slow else "")
        if grace:
            head += f", {grace} KEYS IN GRACE until {store.get('graceUntil', 'another instance has let its lease end')}"
        found = [f"{self.name}  store: {head}" + (", DRAINED" if all_of_it["instance"]["draining"] else "")]
        for permit in permits:
            if "statedLimit" in permit:
                self.states[permit["name"]] = permit["statedLimit"]
            found += self.of(permit)
        for event in all_of_it["events"][:3]:
            if self.age(event["at"]) < 300:
                found.append(f"  {self.age(event['at']):.0f} s ago: {event['key']} {event['text']}")
        return found

    def of(self, permit):
        fleet, orders = permit.get("fleet", {}), self.orders(permit)
        rejected, failed = permit.get("rejectedLately"), permit.get("failedLately")
        if not (permit["holding"] or permit["waiting"] or permit["runningLost"] or fleet.get("waiting") or rejected or failed or orders or fleet.get("limitsDiffer")):
            return []
        if permit.get("limitSource") == "none":
            use = f"no limit, {permit['holding']} in use here"
        elif fleet:
            use = f"{fleet['fullestInUse']} of {fleet['fullestLimit']} in use" + (f" of {fleet['fullestKey']}" if fleet["keys"] > 1 else "")
        else:
            use = "use unknown"
        use += ", LIMITS DIFFER" if fleet.get("limitsDiffer") else ""
        waiting = f"{fleet.get('waiting', '?')} waiting" + self.ago(" for", fleet.get("waitingSince"))
        average = permit.get("averageHoldMillis")
        here = f"{permit['holding']} held" + self.ago(" for up to", permit.get("holdingSince"))
        here += f", on average {average / 1000:.1f} s" if average is not None else ""
        here += f", {permit['waiting']} waiting, rejected {self.lately(rejected, permit.get('rejectedAt'))}, failed {self.lately(failed, permit.get('failedAt'))}"
        here += f", {permit['runningLost']} RUN WITHOUT PERMIT" if permit["runningLost"] else ""
        return [f"  {permit['name']}: {use}, {waiting}; here {here}"] + orders + self.long_holds(permit)

    def orders(self, permit):
        def order(what, of):
            return (f"    {what} since {of.get('since', '?')} until {of.get('until', 'it is lifted')},"
                    f" {of.get('by', 'by an operator')}: {of.get('reason', 'without a reason')}")

        paused = [order(f"PAUSED: {each['what']}", each) for each in permit.get("paused", [])]
        return paused + [order(f"limit {each['limit']} of key {key}", each) for key, each in permit.get("overrides", {}).items() if each["limit"]]

    def long_holds(self, permit):
        least = max(LONG, permit.get("averageHoldMillis", 0) * 5 / 1000)
        if "holdingSince" not in permit or self.age(permit["holdingSince"]) < least:
            return []
        try:
            keys = self.ask(name=permit["name"], most=200)["keys"]
        except Exception as e:
            return [f"    calls unknown: {e or type(e).__name__}"]
        calls = [(self.age(call["since"]), key["key"], call) for key in keys for call in key["calls"] if call["state"] == "holding"]
        return [f"    HELD for {age:.0f} s: call {call.get('call', '?')} of key {key}, {call.get('method', '?')}, thread {call.get('thread', '?')}, "
                + {True: "which is within it", False: "which went on: the call is asynchronous", None: "which may have gone on"}[call.get("onThread")]
                for age, key, call in sorted(calls, key=lambda each: -each[0]) if age >= least]

    def ago(self, word, instant):
        return f"{word} {self.age(instant):.0f} s" if instant else ""

    def lately(self, count, last):
        return "?" if count is None else f"{count}" + (f" (last {self.age(last):.0f} s ago)" if last else "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--header", action="append", default=[], help="such as 'Authorization: Basic ...'")
    parser.add_argument("address", nargs="+")
    arguments = parser.parse_args()
    headers = dict(header.split(":", 1) for header in arguments.header)
    instances = [Instance(address, headers) for address in arguments.address]
    with concurrent.futures.ThreadPoolExecutor(len(instances)) as pool:
        lines = [line for some in pool.map(Instance.lines, instances) for line in some]
    for name in sorted({name for each in instances for name in each.states}):
        by = {}
        for each in instances:
            if name in each.states:
                by.setdefault(each.states[name], []).append(each.name)
        if len(by) > 1:
            lines.append(f"LIMITS DIFFER for {name}: " + "; ".join(f"{limit} by {', '.join(who)}" for limit, who in sorted(by.items())))
    for line in lines:  # keys and reasons are texts of users
        print("".join(c if c.isprintable() else "?" for c in line))


if __name__ == "__main__":
    main()
