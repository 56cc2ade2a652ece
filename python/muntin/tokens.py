from __future__ import annotations
import functools
class Tokenizer:
    def __init__(self,name):
        import tiktoken, tiktoken.load
        self.name=name; self._e=tiktoken.get_encoding(name)
    def count(self,text,special=False): return len(self._e.encode_ordinary(text))
@functools.cache
def tokenizer(name): return Tokenizer(name)
