# Says on descriptor 3 which of some texts do not parse, without running any of them.
import json, os


def fault_of(text):
    try:
        compile(text, '<text>', 'exec', dont_inherit=True)
        return None
    except Exception as error:
        return '%s: %s' % (type(error).__name__, str(error)[:300])


def main(config):
    os.write(3, json.dumps([fault_of(text) for text in config['texts']]).encode())
